"""Moves the gate of a checkpoint: a lower one lets fewer other voices through, and takes more of quiet words.

python -m viva.shift_gate out/core.pt out/core.pt -0.6
python -m viva.shift_gate out/core.pt out/core.pt -0.4 0.3   # and all gains up, where clean speech comes out too soft
"""

import sys

import torch


def main():
    source, target, shift, *gains = sys.argv[1:]
    state = torch.load(source, map_location="cpu", weights_only=True)
    state["core.near.bias"] += float(shift)
    state["core.gains.bias"] += float(gains[0]) if gains else 0.0
    torch.save(state, target)


if __name__ == "__main__":
    main()
