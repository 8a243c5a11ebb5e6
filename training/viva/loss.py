"""What the network is trained for."""

import dataclasses

import numpy as np
import torch
from torch.nn import functional

from . import spectrum
from .network import BINS, features, last_peak


@dataclasses.dataclass
class Weights:
    exponent: float = 0.35
    """Magnitudes are compared under this power."""
    missed: float = 3.6
    """How much more it costs to take away from the near talker than to leave something of the rest."""
    phase: float = 0.3
    absent: float = 1.4
    gate: float = 0.15
    detector: float = 0.2
    detector_active: float = 4.0
    detector_level_db: float = 8.0
    """Detectors hear the output louder or softer by up to this: they are not to be pleased at one level only."""
    detector_tint_db: float = 3.0
    """The same for its colour; their windows begin anywhere, and what they hear is rounded to 16 bits, with and without noise below it."""
    intelligibility: float = 2.2
    hold: float = 0.25
    """How much it counts to tell music on hold from a near talker."""
    before: float = 0.5
    """How much more the time counts before the near talker's first word: false activity is there."""
    early: float = 1.5
    """The same for the 1.5 s after it: it is hard to tell who is near."""
    opening: float = 2.5
    """The same where a voice or a sound begins after a pause, near or far: there it is decided whose it is."""
    undecided: float = 0.6
    """The weight of a near voice while it is too short to be told from a far one."""
    kept: float = 0.3
    """The cost of the share of its energy that a near voice loses where it is the loudest."""


def third_octaves():
    hz = np.arange(BINS) * 8000 / (BINS - 1)
    k = np.arange(15)
    matrix = np.zeros((15, BINS), np.float32)
    for i, (low, high) in enumerate(zip(150 * 2.0 ** ((2 * k - 1) / 6), 150 * 2.0 ** ((2 * k + 1) / 6))):
        start = np.argmin((hz - low) ** 2)
        matrix[i, start : max(start + 1, np.argmin((hz - high) ** 2))] = 1
    return torch.from_numpy(matrix)


EARLY_FRAMES = 150
EARLY_FRAMES_ALONE = 300
DETECTOR_FRAMES = 3.2
HEARD = 1e-3  # of a scene's loudest power: softer frames are neither music nor speech
HOLD_ACTIVE = 3.0
NOISE_DB = (-100, -62)  # full scale


PAUSE_FRAMES = 50
UNDECIDED_FRAMES, NEAR_OPENING_FRAMES, FAR_OPENING_FRAMES = 7, 45, 45
LOUDEST = 4  # times the power of all else
OTHERS_DB = 25  # below the loudest of them


def onsets(active):
    """1 where something begins after a pause."""
    before = functional.max_pool1d(functional.pad(active, (PAUSE_FRAMES, 0))[:, None], PAUSE_FRAMES, 1)[:, 0]
    return active * (1 - before[:, : active.shape[1]])


def from_to(begins, first, last):
    """1 from so many frames after each beginning until so many after it."""
    reach = functional.max_pool1d(functional.pad(begins, (last - 1, 0))[:, None], last - first, 1)[:, 0]
    return reach[:, : begins.shape[1]]


def attention(active, others, weights):
    """(batch, frames), 1 on average: more until 1.5 s after the near talker's first word (or for 3 s where there is none), and where something begins."""
    speaks = active > 0.5
    first = torch.where(speaks.any(1), speaks.float().argmax(1), EARLY_FRAMES_ALONE)[:, None]
    frame = torch.arange(active.shape[1], device=active.device)
    weight = 1 + weights.before * (frame < first).float()
    weight = weight + weights.early * ((frame >= first) & (frame < first + EARLY_FRAMES)).float()
    begins = onsets(active)
    near_opens = from_to(begins, UNDECIDED_FRAMES, NEAR_OPENING_FRAMES)
    far_opens = from_to(onsets(others), 0, FAR_OPENING_FRAMES) * (1 - active)
    weight = weight + weights.opening * torch.maximum(near_opens, far_opens)
    weight = torch.where(from_to(begins, 0, UNDECIDED_FRAMES) > 0, weight * weights.undecided, weight)
    return weight / weight.mean()


def lost(energy, left, loudest, active):
    """The share of the near talker's energy that the gains take, on average over the scenes it speaks in."""
    decided = active * loudest * (1 - from_to(onsets(active), 0, UNDECIDED_FRAMES))
    had = (energy * decided).sum(1)
    share = 1 - (left * decided).sum(1) / had.clamp_min(1e-6)
    speaks = (had > BINS * 3.2e-3).float()
    return (share * speaks).sum() / (speaks.sum() + 1)


def compare(x, s, gains, unit, exponent, missed):
    """Real and imaginary parts of mixture and near talker (batch, frames, bins, 2), and gains.

    Gives the powers of output and near talker, and for each frame the powers of mixture and near talker and what output
    and near talker differ by: by how much it costs, with their angle, and as it is; last the near talker's power after the gains.
    """
    x_power, s_power = ((v[..., 0] ** 2 + v[..., 1] ** 2) / unit**2 for v in (x, s))
    # Gains are real, so the angle between output and near talker is the mixture's own, whatever they are.
    cosine = (x[..., 0] * s[..., 0] + x[..., 1] * s[..., 1]) / unit**2 / ((x_power * s_power).sqrt() + 1e-9)
    y_power = x_power * gains**2
    y_size, s_size = (y_power + 1e-9) ** (exponent / 2), (s_power + 1e-9) ** (exponent / 2)
    difference = y_size - s_size
    cost = torch.where(difference < 0, missed + 1, 1.0)
    plain = difference**2
    angled = cost * (plain + 2 * y_size * s_size * (1 - cosine))
    return y_power, s_power, x_power.sum(-1), s_power.sum(-1), (cost * plain).mean(-1), angled.mean(-1), plain.mean(-1), (s_power * gains**2).sum(-1)


class Loss:
    def __init__(self, detectors, weights, device):
        """`detectors` for 16 or 8 kHz; they take turns."""
        self.weights, self.turn = weights, 0
        self.detectors = [(d.rate_hz, d, spectrum.windows(d.rate_hz)[1].to(device)) for d in detectors]
        analysis, _ = spectrum.windows()
        self.analysis = analysis.to(device)
        self.scale = float(analysis.pow(2).sum().sqrt()) * 0.95
        self.octaves = third_octaves().to(device)
        # In one kernel each way: apart, these steps over every bin take a tenth of a training step.
        self.compare = torch.compile(compare, dynamic=False) if device == "cuda" else compare

    def __call__(self, network, memory, mix, near, reference, narrow, first_peak, holds):
        """`memory` says what each scene begins with, and is told what it ends with."""
        w = self.weights
        x, s = spectrum.analyse(mix, self.analysis), spectrum.analyse(near, self.analysis).contiguous()
        # Of an 8 kHz line the engine gives the network exactly nothing above 4 kHz, unless a converter came before it.
        is_direct = narrow & (torch.rand(len(mix), device=mix.device) < 0.6)
        x = torch.cat([x[..., :129], x[..., 129:] * ~is_direct[:, None, None]], -1)
        power = x.real**2 + x.imag**2
        before, first_peak = memory.begin(first_peak)
        gains, logit, music, left = network(features(power, first_peak), before)
        memory.end(left | dict(peak=last_peak(power, first_peak)))
        music = music[:, 1:]
        gains, logit, x, s = gains[:, 1:], logit[:, 1:], x[:, :-1], s[:, :-1]
        unit = (reference * self.scale)[:, None, None]
        y_power, s_power, x_energy, energy, size, angled, plain, left_energy = self.compare(
            torch.view_as_real(x), torch.view_as_real(s), gains, unit, w.exponent, w.missed
        )
        active = functional.max_pool1d((energy > BINS * 3.2e-4).float()[:, None], 5, 1, 2)[:, 0]
        silent = 1 - functional.max_pool1d((energy > BINS * 6e-7).float()[:, None], 7, 1, 3)[:, 0]
        rest = (x_energy - energy).clamp_min(0)
        others = rest > (rest.amax(1, keepdim=True) * 10 ** (-OTHERS_DB / 10)).clamp_min(BINS * 1e-5)
        weight = attention(active, functional.max_pool1d(others.float()[:, None], 5, 1, 2)[:, 0], w)
        silent = silent * weight
        parts = dict(
            size=(weight * size).mean(),
            phase=w.phase * (weight * angled).mean(),
            absent=w.absent * (plain * silent).sum() / (silent.sum() + 1 / BINS),
            gate=w.gate * functional.binary_cross_entropy_with_logits(logit, active, weight),
            kept=w.kept * lost(energy, left_energy, energy > LOUDEST * rest, active),
            hold=w.hold * self.held(music, x_energy, active, holds[:, None]),
            intelligibility=w.intelligibility * self.intelligibility(y_power, s_power, active),
            detector=w.detector * self.detected(x, gains, s, weight),
        )
        return sum(parts.values()), parts

    def held(self, logit, power, active, holds):
        """Music on hold against a near talker; music beside one, noise and other voices count little, pauses in the music nothing."""
        beside = functional.max_pool1d(active[:, None], 61, 1, 30)[:, 0] > 0
        music = holds & ~beside & (power > power.amax(1, keepdim=True) * HEARD)
        weight = music.float() + HOLD_ACTIVE * active + 0.4 * (~holds * (1 - active))
        cost = functional.binary_cross_entropy_with_logits(logit, music.float(), weight, reduction="sum")
        return cost / (weight.sum() + 1)

    def intelligibility(self, y_power, s_power, active):
        """One minus the correlation of third-octave envelopes over 380 ms, as in STOI."""

        def envelopes(power):
            x = functional.linear(power, self.octaves).add(1e-7).sqrt().transpose(1, 2).unfold(2, 38, 6)
            return x - x.mean(-1, keepdim=True)

        a, b = envelopes(s_power), envelopes(y_power)
        counted = (active[:, None].unfold(2, 38, 6).mean(-1) > 0.5).float()
        correlation = (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + 1e-5)
        return ((1 - correlation) * counted).sum() / (counted.sum() * 15 + 1)

    def detected(self, x, gains, s, weight):
        """A voice detector should hear in the output what it hears in the near talker alone."""
        rate, detector, window = self.detectors[self.turn]
        self.turn = (self.turn + 1) % len(self.detectors)
        bins = spectrum.sizes(rate)[0] // 2 + 1
        uniform = lambda low, high, *shape: low + (high - low) * torch.rand(len(x), *shape, device=x.device)
        louder = uniform(-1, 1, 1, 1) * self.weights.detector_level_db
        tint = torch.randn(len(x), 1, 9, device=x.device) * uniform(0, self.weights.detector_tint_db, 1, 1)
        tint = functional.interpolate(tint, size=bins, mode="linear", align_corners=True)
        scale = 10 ** ((louder + tint) / 20) * rate / spectrum.RATE_HZ
        begins = int(torch.randint(0, 2 * detector.window, ()))
        y = spectrum.synthesise(x[..., :bins] * (scale * gains[..., :bins]), window, rate)[:, begins:]
        with torch.no_grad():
            wanted = detector(spectrum.synthesise(s[..., :bins] * scale, window, rate)[:, begins:]) > 0
            hiss = torch.randn_like(y) * torch.where(uniform(0, 1, 1) < 0.6, 10 ** (uniform(*NOISE_DB, 1) / 20), 0)
            added = torch.round((y + hiss) * 32_768) / 32_768 - y
        heard = detector(y + added)
        frame = begins * 100 / rate + torch.arange(heard.shape[1], device=x.device) * DETECTOR_FRAMES
        at = frame.long().clamp_max(weight.shape[1] - 1)
        cost = torch.where(wanted, self.weights.detector_active, 1.0) * weight[:, at]
        target = wanted.float() * 0.97 + 0.015
        return (functional.binary_cross_entropy_with_logits(heard, target, reduction="none") * cost).mean()
