"""Room impulse responses, simulated: image sources in shoe boxes, and decaying noise behind a direct sound."""

import math

import numpy as np
import torch

from .packs import RATE_HZ

LENGTH = 11_200
DIRECT = 8  # where the direct sound lies
SOUND_M_S = 343.0

# Distance in metres, reverberation in seconds, and for decaying noise direct-to-reverberant dB.
KINDS = dict(
    near=dict(distance=(0.03, 0.45), decay=(0.15, 0.6), direct_db=(8, 22), box=((2.2, 2.2, 2.2), (9, 8, 3.5))),
    mid=dict(distance=(0.45, 1.1), decay=(0.15, 0.6), direct_db=(2, 10), box=((2.2, 2.2, 2.2), (9, 8, 3.5))),
    far=dict(distance=(1.5, 6.0), decay=(0.22, 0.95), direct_db=(-12, 2.5), box=((3, 3, 2.3), (10, 9, 3.6))),
    # A colleague at the next desk.
    close=dict(distance=(0.6, 1.4), decay=(0.2, 0.6), direct_db=(-3, 6), box=((3, 3, 2.3), (9, 8, 3.4))),
    # A television or radio with little room around its voices.
    television=dict(distance=(1.0, 3.0), decay=(0.15, 0.5), direct_db=(-4, 9), box=((3, 3, 2.3), (7, 6, 3.0))),
)
NOISE_SHARE = dict(near=0.3, mid=0.3, far=0.3, close=0.3, television=0.75)


def bank(count, kind, rng, device):
    """(count, LENGTH), each of energy 1."""
    rooms = torch.stack([one(kind, rng, device) for _ in range(count)])
    return rooms / rooms.pow(2).sum(1, keepdim=True).sqrt()


def one(kind, rng, device):
    k = KINDS[kind]
    if rng.random() < NOISE_SHARE[kind]:
        return decaying_noise(rng.uniform(*k["direct_db"]), rng.uniform(k["decay"][0], k["decay"][1]), rng, device)
    room = rng.uniform(*k["box"])
    microphone = room * rng.uniform(0.2, 0.8, 3)
    for _ in range(60):
        direction = rng.normal(size=3) * [1, 1, 0.5]
        source = microphone + direction / np.linalg.norm(direction) * rng.uniform(*k["distance"])
        if ((source > 0.2) & (source < room - 0.2)).all():
            break
    source = np.clip(source, 0.2, room - 0.2)
    return dampen(image_sources(room, source, microphone, rng.uniform(*k["decay"]), rng, device), rng, device)


def image_sources(room, source, microphone, decay, rng, device):
    surface = 2 * (room[0] * room[1] + room[0] * room[2] + room[1] * room[2])
    absorbed = min(0.95, 0.161 * room.prod() / (surface * decay))
    reflected = math.sqrt(1 - absorbed)
    longest = min(decay * 1.05, LENGTH / RATE_HZ)
    offsets, bounces = [], []
    for axis in range(3):
        reach = min(22, math.ceil(longest * SOUND_M_S / (2 * room[axis])))
        n = torch.arange(-reach, reach + 1, device=device, dtype=torch.float32)
        shift = 2 * n * float(room[axis]) - float(microphone[axis])
        offsets.append(torch.cat([float(source[axis]) + shift, -float(source[axis]) + shift]))
        bounces.append(torch.cat([2 * n.abs(), (n - 1).abs() + n.abs()]))
    x, y, z = offsets
    distance = (x[:, None, None] ** 2 + y[None, :, None] ** 2 + z[None, None, :] ** 2).sqrt().flatten()
    count = (bounces[0][:, None, None] + bounces[1][None, :, None] + bounces[2][None, None, :]).flatten()
    kept = distance < SOUND_M_S * longest
    distance, count = distance[kept], count[kept]
    amplitude = reflected**count / distance.clamp_min(0.03)
    # Without this a perfect box sweeps like a whistle.
    flipped = (count > 1) & (torch.rand(count.shape, device=device) < 0.35)
    scatter = torch.exp(0.15 * torch.randn(count.shape, device=device) * (count > 0))
    amplitude = amplitude * torch.where(flipped, -1.0, 1.0) * scatter
    time = distance / SOUND_M_S * RATE_HZ
    time = time - time.min() + DIRECT
    whole = time.floor()
    part = time - whole
    index = whole.long()
    inside = index < LENGTH
    response = torch.zeros(LENGTH + 4, device=device)
    response.index_add_(0, index[inside], (amplitude * (1 - part))[inside])
    response.index_add_(0, index[inside] + 1, (amplitude * part)[inside])
    return response[:LENGTH]


def dampen(response, rng, device):
    """Surfaces absorb more at high frequencies: the late part is duller."""
    size = 16_384
    spectrum = torch.fft.rfft(response, n=size)
    hz = torch.fft.rfftfreq(size, 1 / RATE_HZ).to(device)
    dull = 1 / torch.sqrt(1 + (hz / rng.uniform(2500, 9000)) ** 2)
    no_rumble = hz**2 / (hz**2 + 70**2)
    late = torch.fft.irfft(spectrum * dull * no_rumble, n=size)[:LENGTH]
    early = torch.fft.irfft(spectrum * no_rumble, n=size)[:LENGTH]
    share = ((torch.arange(LENGTH, device=device) - DIRECT) / (0.03 * RATE_HZ)).clamp(0, 1)
    return early * (1 - share) + late * share


def decaying_noise(direct_db, decay, rng, device):
    time = torch.arange(LENGTH, device=device) / RATE_HZ
    noise = torch.fft.rfft(torch.randn(LENGTH, device=device))
    hz = torch.fft.rfftfreq(LENGTH, 1 / RATE_HZ).to(device)
    response = torch.zeros(LENGTH, device=device)
    for low, high, share in ((60, 400, 1.2), (400, 1500, 1.05), (1500, 4000, 0.8), (4000, 8000, 0.55)):
        band = torch.fft.irfft(noise * ((hz >= low) & (hz < high)), n=LENGTH)
        response += band * 10 ** (-3 * time / (decay * share * math.exp(0.1 * rng.normal())))
    gap = int(rng.uniform(0.0008, 0.008) * RATE_HZ) + DIRECT
    response = torch.roll(response, gap)
    response[:gap] = 0
    response = response / response.norm() * 10 ** (-direct_db / 20)
    response[DIRECT] = 1.0
    return response
