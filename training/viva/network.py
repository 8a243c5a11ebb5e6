"""The network: which part of each 31.25 Hz step of each 10 ms belongs to the near talker."""

import math

import torch
from torch import nn

from . import recurrent

BINS = 257
BANDS = 16
BAND_BINS = 16
BAND_HIDDEN = 64
HOLD_HIDDEN = 32
SMALLEST_POWER = 1e-10
FIRST_PEAK_DB = -20.0
PEAK_DECAY_DB = 0.004
GATE_SHIFT = 2.0
# Who has just spoken goes on more likely than somebody else begins: known after 0.1 s, forgotten after 0.5 s.
NEAR_RISES, NEAR_FALLS = 0.1, 0.02
NEAR_MOVED, NEAR_MIDDLE = 6.0, 0.3
# While the gate is open this share of everything stays: what is taken away entirely leaves holes in a voice.
LEAST_GAIN = 0.04
# Music on hold: a second of it closes the output, a few hundredths of a second of a voice open it again, doubt does neither.
HOLD_RISES, HOLD_RISES_MOST = 0.01, 0.01
HOLD_FALLS, HOLD_FALLS_MOST = 0.15, 0.3
HOLD_DOUBT = 3.0
HOLD_BEGINS, HOLD_CLOSED, HOLD_MOST = 1.0, 1.4, 1.6
HOLD_LEFT = 0.01
BIN_OFFSET_DB = 10 * math.log10(256 / 160)
LEVEL_OFFSET_DB = 10 * math.log10(122 * 256 / (76 * 160))


def decibels(power):
    return 10 * torch.log10(power + SMALLEST_POWER)


def peak_levels(power, first_peak=None):
    """Level from 190 Hz to 4 kHz, and its peak, which decays by 0.4 dB a second."""
    level = decibels(power[..., 6:128].sum(-1)) - LEVEL_OFFSET_DB
    decay = torch.arange(power.shape[1], device=power.device, dtype=power.dtype) * PEAK_DECAY_DB
    start = torch.full_like(level, FIRST_PEAK_DB) if first_peak is None else first_peak[:, None].expand_as(level)
    peak = torch.cummax(torch.maximum(level + decay, start), 1)[0] - decay
    return level, peak


def features(power, first_peak=None):
    """(batch, frames, 257) powers -> (batch, frames, 259): log powers below the peak, peak, level."""
    level, peak = peak_levels(power, first_peak)
    relative = (decibels(power) - BIN_OFFSET_DB - peak[..., None] + 35) / 20
    return torch.cat([relative, ((peak - 10) / 20)[..., None], ((level - peak + 15) / 15)[..., None]], -1)


def last_peak(power, first_peak):
    """The peak that the next stretch of the same recording begins with."""
    return peak_levels(power, first_peak)[1][:, -1] - PEAK_DECAY_DB


def band_features(power, peak):
    """(batch, frames, 256) powers above 8 kHz -> (batch, frames, 16)."""
    mean = power.unflatten(-1, (BANDS, BAND_BINS)).mean(-1)
    return (decibels(mean) - BIN_OFFSET_DB - peak[..., None] + 35) / 20


class Network(nn.Module):
    def __init__(self, conv=128, hidden=128):
        super().__init__()
        self.conv, self.hidden = conv, hidden
        self.frames = nn.Conv1d(BINS + 2, conv, 3)
        self.slope = nn.PReLU(conv)
        self.first = nn.GRU(conv, hidden, batch_first=True)
        self.second = nn.GRU(hidden, hidden, batch_first=True)
        self.gains = nn.Linear(2 * hidden, BINS)
        self.near = nn.Linear(2 * hidden, 1)
        # Listens for music on hold; trained for itself on the network that ships (train_hold.py), and until then never hears any.
        self.listener = nn.GRU(conv + 2 * hidden, HOLD_HIDDEN, batch_first=True)
        self.hold = nn.Linear(HOLD_HIDDEN, 1)
        with torch.no_grad():
            self.gains.bias.fill_(1.0)
            self.hold.weight.zero_()
            self.hold.bias.zero_()

    def layers(self, x, memory=None):
        """(batch, frames, 259) -> what three frames show (batch, frames, conv), and the hidden layers (batch, frames, 2 * hidden)."""
        memory = memory or {}
        before = memory.get("frames", x.new_zeros(len(x), 2, x.shape[-1]))
        a = self.slope(self.frames(torch.cat([before, x], 1).transpose(1, 2))).transpose(1, 2)
        b = recurrent.run(self.first, a, memory.get("first"))
        c = recurrent.run(self.second, b, memory.get("second"))
        return a, torch.cat([b, c], -1)

    def forward(self, x, memory=None):
        """(batch, frames, 259) -> gains (batch, frames, 257), the near talker's logit, that of music on hold, and what is remembered at the end."""
        memory = memory or {}
        seen, both = self.layers(x, memory)
        logit = self.near(both)[..., 0]
        share = torch.sigmoid(logit.detach())
        recent = recurrent.recent(share, NEAR_RISES, NEAR_FALLS, memory.get("recent"))
        heard = recurrent.run(self.listener, torch.cat([seen, both], -1), memory.get("listener"))
        left = dict(frames=x[:, -2:], first=both[:, -1, : self.hidden], second=both[:, -1, self.hidden :], listener=heard[:, -1])
        left["recent"] = recurrent.after(share, recent, NEAR_RISES, NEAR_FALLS)
        return self.gated(both, moved_by(recent, logit)), logit, self.hold(heard)[..., 0], left

    def on_hold(self, seen, both):
        return self.hold(recurrent.run(self.listener, torch.cat([seen, both], -1)))[..., 0]

    def gated(self, both, logit):
        gains = LEAST_GAIN + (1 - LEAST_GAIN) * torch.sigmoid(self.gains(both))
        return gains * torch.sigmoid(logit + GATE_SHIFT)[..., None]


def moved_by(recent, logit):
    return logit + NEAR_MOVED * (recent - NEAR_MIDDLE)


def remembering(logit):
    """(batch, frames) logits of the near talker -> the same, moved by how likely it spoke of late."""
    return moved_by(recurrent.recent(torch.sigmoid(logit), NEAR_RISES, NEAR_FALLS), logit)


def hold_gate(logit):
    """(batch, frames) logits of music on hold -> what is left of the output while music is played to who is on hold."""
    falls = (logit + HOLD_DOUBT).clamp_max(0) * HOLD_FALLS
    steps = torch.where(logit > 0, logit * HOLD_RISES, falls).clamp(-HOLD_FALLS_MOST, HOLD_RISES_MOST)
    sums, total = [], torch.zeros_like(steps[:, 0])
    for step in steps.unbind(1):
        total = (total + step).clamp(0, HOLD_MOST)
        sums.append(total)
    open_share = ((HOLD_CLOSED - torch.stack(sums, 1)) / (HOLD_CLOSED - HOLD_BEGINS)).clamp(0, 1)
    return HOLD_LEFT + (1 - HOLD_LEFT) * open_share


class HighBand(nn.Module):
    """Gains for 8 to 16 kHz, one per 500 Hz, from the network's hidden layers and three frames of band levels."""

    def __init__(self, hidden=128):
        super().__init__()
        self.layer = nn.Linear(2 * hidden + 3 * BANDS, BAND_HIDDEN)
        self.slope = nn.PReLU(BAND_HIDDEN)
        self.gains = nn.Linear(BAND_HIDDEN, BANDS)

    def forward(self, both, bands, logit):
        earlier = nn.functional.pad(bands, (0, 0, 2, 0))
        seen = torch.cat([both, earlier[:, :-2], earlier[:, 1:-1], bands], -1)
        x = self.layer(seen)
        x = torch.where(x > 0, x, x * self.slope.weight)
        return torch.sigmoid(self.gains(x)) * torch.sigmoid(logit + GATE_SHIFT)[..., None]


def spread_bands(gains):
    """One gain per band -> one per bin, in straight lines between the bands' middles."""
    place = ((torch.arange(BANDS * BAND_BINS, device=gains.device) - 7.5) / BAND_BINS).clamp_min(0)
    band = place.long().clamp_max(BANDS - 2)
    part = (place - band).clamp_max(1)
    return gains[..., band] + part * (gains[..., band + 1] - gains[..., band])
