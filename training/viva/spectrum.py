"""Spectra in steps of 31.25 Hz, every 10 ms, at any rate whose 10 ms and 32 ms are whole numbers of samples.

The analysis window sees 32 ms, the synthesis window is heard for 20 ms, and the gain of frame t is applied to frame
t - 1: 30 ms from a sound until all of it can be given out.
"""

import math

import torch
from torch.nn import functional

RATE_HZ = 16_000


def sizes(rate_hz=RATE_HZ):
    """Samples in a window of 32 ms and in a step of 10 ms."""
    return rate_hz * 32 // 1000, rate_hz // 100


def windows(rate_hz=RATE_HZ):
    size, hop = sizes(rate_hz)
    n = torch.arange(size, dtype=torch.float64)
    heard = size - 2 * hop

    def hann(x):
        return 0.5 - 0.5 * torch.cos(math.pi * x / hop)

    rise = torch.sin(math.pi * n / (2 * (size - hop)))
    fall = hann((n - heard).clamp(0)).clamp_min(0).sqrt()
    analysis = torch.where(n < size - hop, rise, fall)
    synthesis = torch.zeros(size, dtype=torch.float64)
    synthesis[heard:] = hann(n[heard:] - heard) / analysis[heard:].clamp_min(1e-9)
    return analysis.float(), synthesis.float()


def analyse(x, window, rate_hz=RATE_HZ):
    """(batch, samples) -> (batch, frames, bins); frame t ends with sample (t + 1) * hop."""
    size, hop = sizes(rate_hz)
    padded = functional.pad(x, (size - hop, 0))
    return torch.stft(padded, size, hop, window=window, center=False, return_complex=True).transpose(1, 2)


def synthesise(spectrum, window, rate_hz=RATE_HZ):
    """The inverse, aligned with the input of `analyse`."""
    size, hop = sizes(rate_hz)
    frames = (torch.fft.irfft(spectrum, n=size) * window)[..., size - 2 * hop :]
    rising = functional.pad(frames[:, 1:, :hop], (0, 0, 0, 1))
    return (rising + frames[..., hop:]).flatten(1)
