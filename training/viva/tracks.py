"""Plans of what is heard when: segments (destination, source, samples, gain in dB, speed) of the corpus."""

import numpy as np
import torch

from .packs import RATE_HZ

SEGMENTS = 14
FAR_TALKERS = 4


def speech_track(rng, corpus, talker, seconds, near):
    name, clips = corpus.talkers[talker]
    segments = []
    t = voice_begins(rng, seconds, near)
    sparse = rng.random() < (0.5 if near else 0.3)
    # Few people, many voices: pitch and size of the head change with the speed.
    speed = 1.0 if rng.random() < 0.25 else rng.uniform(0.84, 1.2)
    level = rng.normal(0, 1.5)
    while t < seconds - 0.2 and len(segments) < SEGMENTS:
        start, end = clips[rng.integers(len(clips))]
        length = int(end - start)
        if length > int(2.2 * RATE_HZ) and rng.random() < 0.5:
            part = int(rng.uniform(1.0, min(6.0, length / RATE_HZ)) * RATE_HZ)
            start, length = start + int(rng.integers(0, length - part + 1)), part
        count = int(length / speed) - 4
        if count < 1000:
            continue
        segments.append((int(t * RATE_HZ), int(start), count, level + rng.normal(0, 1.0), speed))
        t += count / RATE_HZ + pause(rng, name, near, sparse)
    return segments


def begins(rng, seconds):
    return rng.uniform(0, 0.5) if rng.random() < 0.2 else rng.uniform(0, 0.82 * seconds)


def voice_begins(rng, seconds, near):
    """Most talkers, near or far, begin at the same times; in the rest a background is there before the caller, as in most calls."""
    if rng.random() < 0.3:
        return rng.uniform(1.5, 3.5) if near else rng.uniform(0, 0.6)
    return begins(rng, seconds)


def pause(rng, name, near, sparse):
    if name in ("am", "ar") and rng.random() < 0.8:  # digits and single words: said in a row
        return rng.uniform(0.03, 0.5)
    long = (sparse and rng.random() < 0.6) or rng.random() < (0.2 if near else 0.1)
    return rng.uniform(1.0, 4.0) if long else rng.uniform(0.05, 0.8)


def noise_track(rng, clips, seconds, repeated):
    segments, t = [], begins(rng, seconds) if rng.random() < 0.4 else 0.0 if repeated else rng.uniform(0, 1.0)
    clip = clips[rng.integers(len(clips))]
    again = repeated or rng.random() < 0.5
    while t < seconds and len(segments) < SEGMENTS:
        if not again:
            clip = clips[rng.integers(len(clips))]
        speed = rng.uniform(0.7, 1.4)
        count = int((clip[1] - clip[0]) / speed) - 4
        segments.append((int(t * RATE_HZ), clip[0], count, clip[2] + (0 if repeated else rng.normal(0, 2)), speed))
        t += count / RATE_HZ
        if not repeated:
            t += rng.uniform(0, 0.4) if rng.random() < 0.6 else rng.uniform(0.3, 2.0)
    return segments


def music_track(rng, clips, seconds):
    """Music that goes on from somewhere in a piece, as it does for who is put on hold; now and then it stops for a while."""
    segments, t = [], 0.0
    while t < seconds and len(segments) < SEGMENTS:
        start, end, gain = clips[rng.integers(len(clips))]
        start = start + int(rng.uniform(0, 0.5) * (end - start))
        speed = rng.uniform(0.8, 1.25)
        count = int((end - start) / speed) - 4
        segments.append((int(t * RATE_HZ), start, count, gain, speed))
        t += count / RATE_HZ + (rng.uniform(0.2, 1.5) if rng.random() < 0.5 else 0)
    return segments


def plan(rng, corpus, count, seconds):
    """`count` near tracks, background talkers, noises and music on hold, independent of one another."""
    tracks = np.zeros((count, 1 + FAR_TALKERS + 2, SEGMENTS, 5))
    far_gain = np.zeros((count, FAR_TALKERS), np.float32)
    noise_kind = np.zeros(count, np.int64)  # 0 from the corpus, 1 … 9 made (see mixing.made_noise)
    for i in range(count):
        talkers = rng.choice(len(corpus.talkers), 1 + FAR_TALKERS, replace=False, p=corpus.weights)
        put(tracks[i, 0], speech_track(rng, corpus, talkers[0], seconds, near=True))
        others = int(rng.choice([1, 2, 3, 4], p=[0.64, 0.16, 0.08, 0.12]))
        for k in range(others):
            put(tracks[i, 1 + k], speech_track(rng, corpus, talkers[1 + k], seconds, near=False))
            far_gain[i, k] = 10 ** (rng.normal(0, 2.5 if others > 1 else 0) / 20)
        kind = rng.choice(["steady", "changing", "music", "made"], p=[0.20, 0.22, 0.24, 0.34])
        if kind == "made":
            noise_kind[i] = rng.integers(1, 10)
        else:
            put(tracks[i, -2], noise_track(rng, getattr(corpus, kind), seconds, kind != "changing"))
        put(tracks[i, -1], music_track(rng, corpus.music, seconds))
    return torch.from_numpy(tracks), torch.from_numpy(far_gain), torch.from_numpy(noise_kind)


def put(track, segments):
    for i, segment in enumerate(segments[:SEGMENTS]):
        track[i] = segment


def render(tracks, data, samples):
    """(n, segments, 5) -> (n, samples) with short fades."""
    device = data.device
    tracks = tracks.to(device)
    position = torch.arange(samples, device=device)
    source = torch.zeros(len(tracks), samples, device=device, dtype=torch.int64)
    begin, speed, gain = source.clone(), source.float(), source.float()
    used = int((tracks[..., 2] > 0).any(0).sum())
    for k in range(used):
        start, length = tracks[:, k, 0].long()[:, None], tracks[:, k, 2].long()[:, None]
        inside = (position >= start) & (position < start + length)
        fade = ((position - start).clamp(0) / 80).clamp(0, 1) * ((start + length - position).clamp(0) / 160).clamp(0, 1)
        source = torch.where(inside, tracks[:, k, 1].long()[:, None], source)
        begin = torch.where(inside, start, begin)
        speed = torch.where(inside, tracks[:, k, 4].float()[:, None], speed)
        gain = torch.where(inside, (10 ** (tracks[:, k, 3] / 20)).float()[:, None] * fade, gain)
    place = (position - begin) * speed
    whole = place.floor()
    index = (source + whole.long()).clamp(0, data.numel() - 2)
    part = place - whole
    return (data[index].float() * (1 - part) + data[index + 1].float() * part) * (gain / 32768)
