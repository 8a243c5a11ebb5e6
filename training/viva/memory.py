"""What the network remembers where a training scene begins.

A scene lasts seconds and a call minutes. So a scene begins as a call does, or goes on from what quiet of up to a few
minutes, or another scene, has left.
"""

import torch

QUIET_ROWS = 32  # of a batch: scenes in which only the line is heard; each goes on from its own end
QUIET_GOES_ON = 0.85
AFTER_QUIET, AFTER_A_SCENE = 0.3, 0.25


class Memory:
    def __init__(self):
        self.left = None

    def begin(self, first_peak):
        """What each scene of a batch begins with (None: all of them as calls), and its first peak."""
        if self.left is None:
            return None, first_peak
        count, device = len(first_peak), first_peak.device
        rows, u = torch.arange(count, device=device), torch.rand(count, device=device)
        is_quiet = rows < QUIET_ROWS
        goes_on = u < torch.where(is_quiet, QUIET_GOES_ON, AFTER_QUIET + AFTER_A_SCENE)
        quiet = torch.randint(0, QUIET_ROWS, (count,), device=device)
        scene = torch.randint(QUIET_ROWS, count, (count,), device=device)
        source = torch.where(is_quiet, rows, torch.where(u < AFTER_QUIET, quiet, scene))
        memory = {}
        for name, value in self.left.items():
            kept = goes_on.view(-1, *[1] * (value.dim() - 1))
            memory[name] = torch.where(kept, value[source], torch.zeros_like(value))
        return memory, torch.where(goes_on, memory.pop("peak"), first_peak)

    def end(self, left):
        self.left = {name: value.detach() for name, value in left.items()}
