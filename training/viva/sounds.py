"""Sudden and textured sounds made of chance, as batches: what no recording of clear licence is at hand for."""

import math

import torch

from . import rooms
from .packs import RATE_HZ

EVENTS = 64


class Events:
    """Something that happens again and again, never quite alike: how far each sample is into its event, from 0 to 1 and beyond."""

    def __init__(self, mixer, count, shortest_s, longest_s):
        self.mixer, self.count = mixer, count
        time = torch.arange(mixer.samples, device=mixer.device) / RATE_HZ
        period = between(mixer, shortest_s, longest_s, count)
        place = time / period + torch.rand(count, 1, device=mixer.device)
        self.number = place.long().clamp_max(EVENTS - 1)
        late = self.each(0, 0.3)
        share = (place - place.floor() - late).clamp_min(0)
        self.share = share / (mixer.uniform(0.12, 0.7, count)[:, None] * self.each(0.7, 1.0))
        self.inside = (self.share > 0) & (self.share < 1)
        self.seconds = share * period

    def each(self, low, high):
        """A number for every event, seen from its samples."""
        return (low + (high - low) * torch.rand(self.count, EVENTS, device=self.mixer.device)).gather(1, self.number)

    def gains(self):
        return self.inside * (self.each(0, 1) < 0.85) * 10 ** (self.each(-14, 0) / 20)


def between(mixer, low, high, count):
    return torch.exp(mixer.uniform(math.log(low), math.log(high), count))[:, None]


def calls(mixer, coloured):
    """Animals, sirens, alarms, crying: tones that glide, with overtones and breath."""
    count = len(coloured)
    events = Events(mixer, count, 0.15, 3.0)
    share = events.share.clamp(0, 1)
    uniform = lambda low, high: mixer.uniform(low, high, count)[:, None]
    wobble = uniform(0, 0.15) * torch.sin(2 * math.pi * uniform(3, 40) * events.seconds)
    octaves = uniform(-1, 1) * share + uniform(-0.8, 0.8) * torch.sin(math.pi * share) + wobble + events.each(-0.2, 0.2)
    hertz = (between(mixer, 150, 3000, count) * 2**octaves).clamp(60, 7500)
    phase = torch.cumsum(hertz, 1) * (2 * math.pi / RATE_HZ)
    tilt, sound = uniform(0, 1.5), torch.zeros_like(coloured)
    for k in range(1, 13):
        strength = torch.rand(count, 1, device=mixer.device) * k**-tilt
        sound += torch.sin(k * phase) * strength * (hertz * k < 7600)
    envelope = torch.sin(math.pi * share).clamp_min(0) ** uniform(0.15, 1.5)
    breath = 10 ** (uniform(-30, 3) / 20)
    return (sound + breath * coloured) * envelope * events.gains() + coloured * 10 ** (uniform(-60, -25) / 20)


def bursts(mixer, coloured):
    """Coughs, steps, saws, doors, rustling: noise that begins suddenly or swells, and dies away."""
    count = len(coloured)
    events = Events(mixer, count, 0.1, 2.5)
    uniform = lambda low, high: mixer.uniform(low, high, count)[:, None]
    rise = between(mixer, 0.005, 0.4, count)
    envelope = (events.share / rise).clamp(0, 1) * torch.exp(-events.share * uniform(0, 6)) * (1 - events.share).clamp(0, 1)
    return coloured * (envelope * events.gains() + 10 ** (uniform(-60, -20) / 20))


def ringing(mixer, count, shortest_s, longest_s):
    """What is struck: a few modes that die away, and the blow."""
    time = torch.arange(rooms.LENGTH, device=mixer.device) / RATE_HZ
    decay, lowest = between(mixer, shortest_s, longest_s, count), between(mixer, 120, 2500, count)
    blow = torch.exp(-time / between(mixer, 0.0005, 0.02, count)) * torch.randn(count, rooms.LENGTH, device=mixer.device)
    sound = blow * 10 ** (mixer.uniform(-20, 6, count)[:, None] / 20)
    for _ in range(9):
        hertz = (lowest * (1 + 9 * torch.rand(count, 1, device=mixer.device) ** 2)).clamp_max(7600)
        faster = decay * (0.2 + 0.8 * torch.rand(count, 1, device=mixer.device)) * (lowest / hertz) ** 0.5
        sound += torch.randn(count, 1, device=mixer.device) * torch.sin(2 * math.pi * hertz * time) * torch.exp(-time / faster)
    return sound


def impacts(mixer, count):
    """Dishes, glass, keys, knocks, bells, typing: struck now and then, often several times in a row."""
    events = Events(mixer, count, 0.4, 4.0)
    chance = between(mixer, 1.0, 15.0, count) / RATE_HZ * (0.1 + events.inside)
    hits = (torch.rand(count, mixer.samples, device=mixer.device) < chance) * torch.exp(torch.randn(count, mixer.samples, device=mixer.device) * 0.7)
    return mixer.convolve(hits, ringing(mixer, count, 0.005, 0.5), mixer.responses.equaliser(count, 5.0))


def drops(mixer, count):
    """Rain, fire, applause, gravel: so many little blows that they become a texture."""
    chance = between(mixer, 20, 4000, count) / RATE_HZ
    hits = (torch.rand(count, mixer.samples, device=mixer.device) < chance) * torch.randn(count, mixer.samples, device=mixer.device) ** 3
    return mixer.convolve(hits, ringing(mixer, count, 0.0005, 0.01), mixer.responses.equaliser(count, 6.0))
