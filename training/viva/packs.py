"""Training audio: packs of Opus files (see manifest.json), cut into clips at their pauses."""

import pathlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from . import sound_file

RATE_HZ = 16_000
FRAME = 160
# How often each pack is drawn, and how many seconds in a row are taken as one talker.
SPEECH = dict(so=(0.52, 20), pv=(0.18, 6), am=(0.11, 12), ar=(0.09, 20), ke=(0.05, 20), ka=(0.05, 20))
NOISE = ("e10", "bl", "gs", "spi", "an", "mu", "hold", "fd", "syn", "pop")
MUSIC = ("mu", "hold", "fd", "syn", "pop")


def decode(folder, library_path=None):
    """All packs of a folder as 16-bit samples at 16 kHz, by name."""
    library = sound_file.open_library(library_path)
    files = sorted(pathlib.Path(folder).glob("*.opus"))

    def one(path):
        samples, rate = sound_file.read(library, path)
        return samples[::3] if rate == 48_000 else samples

    with ThreadPoolExecutor(8) as pool:
        decoded = list(pool.map(one, files))
    packs = {}
    for path, samples in zip(files, decoded):
        packs.setdefault(path.name.split(".")[0], []).append(samples)
    return {name: np.concatenate(parts) for name, parts in packs.items()}


def frame_levels(samples):
    count = len(samples) // FRAME
    frames = samples[: count * FRAME].reshape(count, FRAME).astype(np.float32) / 32768
    return 10 * np.log10((frames**2).mean(1) + 1e-10)


def split_at_pauses(samples, quiet_db=-52.0, pause_frames=12, least_s=0.35, most_s=8.0):
    """(start, end) of what is spoken between pauses of 120 ms and more."""
    loud = frame_levels(samples) > quiet_db
    edges = np.flatnonzero(np.diff(np.concatenate([[0], loud.astype(np.int8), [0]])))
    clips = []
    for start, end in zip(edges[::2], edges[1::2]):
        if clips and start - clips[-1][1] < pause_frames and end - clips[-1][0] < most_s * 100:
            clips[-1][1] = end
        else:
            clips.append([start, end])
    padded = [(max(0, s - 4) * FRAME, (e + 6) * FRAME) for s, e in clips if e - s >= least_s * 100]
    return [(s, min(e, len(samples))) for s, e in padded]


def group_talkers(clips, seconds):
    """Clips in a row, up to so many seconds: speakers follow one another in the packs."""
    groups, length = [[]], 0
    for start, end in clips:
        if length + end - start > seconds * RATE_HZ and groups[-1]:
            groups.append([])
            length = 0
        groups[-1].append((start, end))
        length += end - start
    return [np.array(group, np.int64) for group in groups if group]


def active_level(samples):
    power = 10 ** (frame_levels(samples) / 10)
    loud = power > power.max() * 1e-3
    return float(np.sqrt(power[loud].mean()) + 1e-6)


def is_steady(samples):
    """Rain is, a barking dog is not: hardly a frame lies far below the loudest."""
    levels = frame_levels(samples)
    return bool(np.percentile(levels, 10) > np.percentile(levels, 95) - 15)


class Corpus:
    """All audio in one array, with talkers (clips each) and noises (start, end, gain in dB)."""

    def __init__(self, packs):
        self.talkers, weights, self.steady, self.changing, self.music = [], [], [], [], []
        offset, parts = 0, []
        for name, samples in packs.items():
            if name in SPEECH:
                share, seconds = SPEECH[name]
                groups = group_talkers(split_at_pauses(samples), seconds)
                self.talkers += [(name, group + offset) for group in groups]
                weights += [share / len(groups)] * len(groups)
            elif name in NOISE:
                self._add_noise(name, samples, offset)
            parts.append(samples)
            offset += len(samples)
        self.samples = np.concatenate(parts)
        self.weights = np.array(weights) / sum(weights)

    def _add_noise(self, name, samples, offset):
        length = 12 * RATE_HZ if name in MUSIC else 5 * RATE_HZ
        for start in range(0, len(samples) - RATE_HZ, length):
            part = samples[start : start + length]
            level = active_level(part)
            if level < 1e-3:
                continue
            clip = (offset + start, offset + start + len(part), -20 * np.log10(level))
            if name in MUSIC:
                self.music.append(clip)
            elif is_steady(part):
                self.steady.append(clip)
            else:
                self.changing.append(clip)
