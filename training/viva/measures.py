"""What scenes are judged by."""

import numpy as np
from scipy import signal

RATE_HZ = 16_000
DETECTOR_FRAME = 512
FIRST_WORDS = 24_000  # samples from the first word on


def si_sdr(reference, y):
    reference, y = reference - reference.mean(), y - y.mean()
    scale = (reference @ y) / (reference @ reference + 1e-12)
    error = y - scale * reference
    return 10 * np.log10((scale**2 * (reference @ reference) + 1e-12) / (error @ error + 1e-12))


def third_octaves():
    hz = np.linspace(0, 10_000, 513)[:257]
    k = np.arange(15)
    matrix = np.zeros((15, len(hz)))
    for i, (low, high) in enumerate(zip(150 * 2.0 ** ((2 * k - 1) / 6), 150 * 2.0 ** ((2 * k + 1) / 6))):
        matrix[i, np.argmin((hz - low) ** 2) : np.argmin((hz - high) ** 2)] = 1
    return matrix


OCTAVES = third_octaves()


def stoi(reference, y):
    """Short-time objective intelligibility (Taal and others, 2011)."""
    x, y = (signal.resample_poly(v, 5, 8) for v in (reference, y))
    window = np.hanning(258)[1:-1]
    starts = np.arange(0, len(x) - 256, 128)
    x, y = (np.stack([window * v[i : i + 256] for i in starts]) for v in (x, y))
    energy = 20 * np.log10(np.linalg.norm(x, axis=1) + 1e-12)
    loud = energy > energy.max() - 40
    x, y = (np.sqrt((np.abs(np.fft.rfft(v[loud], 512)) ** 2) @ OCTAVES.T) for v in (x, y))
    scores = []
    for end in range(30, len(x) + 1, 3):
        a, b = x[end - 30 : end].T, y[end - 30 : end].T
        b = b * np.linalg.norm(a, axis=1, keepdims=True) / (np.linalg.norm(b, axis=1, keepdims=True) + 1e-12)
        b = np.minimum(b, a * (1 + 10 ** (15 / 20)))
        a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
        scores.append(((a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) + 1e-12)).mean())
    return float(np.mean(scores))


def detections(heard, heard_near, spoken):
    """Frames of a voice detector: false ones while the near talker is silent, missed ones while it speaks, and in its first 1.5 s."""
    count = min(len(heard), len(heard_near))
    region = np.repeat(spoken, 160)
    # A frame is silent when nothing was said in it or in the 300 ms before.
    silent = np.array([not region[max(0, i * DETECTOR_FRAME - 4800) : (i + 1) * DETECTOR_FRAME].any() for i in range(count)])
    heard, active = heard[:count] > 0.5, heard_near[:count] > 0.5
    begins = np.flatnonzero(spoken)[0] * 160
    early = slice(begins // DETECTOR_FRAME, (begins + FIRST_WORDS) // DETECTOR_FRAME)
    return dict(
        silent=int(silent.sum()),
        false=int((heard & silent).sum()),
        active=int(active.sum()),
        missed=int((~heard & active).sum()),
        first=int(active[early].sum()),
        first_missed=int((~heard & active)[early].sum()),
    )
