"""Trains what `pro` does above 8 kHz, on top of a network that stays as it is.

python -m viva.train_high_band --wide wide --core out/core.pt --out out
python -m viva.train_high_band … --kept 384 --steps 3000   # without a GPU: few scenes, made once
"""

import argparse
import math
import pathlib

import numpy as np
import torch

from . import sound_file, spectrum
from .export import load
from .network import BANDS, BINS, HighBand, band_features, features, peak_levels, remembering, spread_bands

RATE_HZ = 48_000
SIZE = 262_144
SAMPLES = 4 * RATE_HZ
ROOM = 24_000
KEPT = BINS + BANDS * 16


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wide", type=pathlib.Path, required=True)
    parser.add_argument("--core", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--high", help="pro.pt whose bands to go on from")
    parser.add_argument("--library")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--kept", type=int, default=0, help="scenes to make once and draw from; 0: new ones for every step")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Scenes:
    """Scenes of 4 s at 48 kHz, made for every step anew."""

    def __init__(self, folder, library, device):
        library = sound_file.open_library(library)
        packs = {p.name.split(".")[0]: sound_file.read(library, p)[0] for p in sorted(folder.glob("*.opus"))}
        self.device = device
        self.voices = [torch.from_numpy(packs[name]).to(device) for name in ("am", "ke")]
        self.noises = torch.from_numpy(packs["e10"]).to(device)
        self.hz = torch.fft.rfftfreq(SIZE, 1 / RATE_HZ).to(device)
        self.time = torch.arange(ROOM, device=device) / RATE_HZ

    def uniform(self, low, high, count):
        return low + (high - low) * torch.rand(count, 1, device=self.device)

    def cut(self, data, count):
        start = torch.randint(0, len(data) - SAMPLES, (count, 1), device=self.device)
        return data[start + torch.arange(SAMPLES, device=self.device)].float() / 32768

    def voice(self, count):
        chosen = torch.rand(count, 1, device=self.device) < 0.6
        return torch.where(chosen, self.cut(self.voices[0], count), self.cut(self.voices[1], count))

    def room(self, x, direct_db, decay, duller):
        """Noise that decays, faster at high frequencies, behind the direct sound."""
        noise = torch.randn(len(x), ROOM, device=self.device) * 10 ** (-3 * self.time / decay)
        tail = torch.fft.rfft(noise, n=SIZE) / torch.sqrt(1 + (self.hz / duller) ** 2)
        power = tail.abs().pow(2).mean(1, keepdim=True)
        response = 1 + tail / power.sqrt() * 10 ** (-direct_db / 20)
        return torch.fft.irfft(torch.fft.rfft(x, n=SIZE) * response, n=SIZE)[:, :SAMPLES]

    def speaks(self, count):
        """When the near talker does: from somewhere to somewhere, or all the time."""
        t = torch.arange(SAMPLES, device=self.device) / SAMPLES
        start, end = self.uniform(-0.3, 0.7, count), self.uniform(0.5, 1.6, count)
        return ((t > start) & (t < end)).float()

    @torch.no_grad()
    def draw(self, count):
        def level(x):
            return x.pow(2).mean(1, keepdim=True).sqrt().clamp_min(1e-5)

        near = self.room(self.voice(count) * self.speaks(count), self.uniform(8, 30, count), self.uniform(0.1, 0.5, count), self.uniform(4000, 14_000, count))
        far = self.room(self.voice(count), self.uniform(-10, 6, count), self.uniform(0.2, 0.8, count), self.uniform(2000, 9000, count))
        tilt = self.uniform(0, 2, count)
        white = torch.randn(count, len(self.hz), device=self.device, dtype=torch.complex64)
        made = torch.fft.irfft(white * (self.hz.clamp_min(60) / 1000) ** (-tilt / 2), n=SIZE)[:, :SAMPLES]
        noise = torch.where(torch.rand(count, 1, device=self.device) < 0.6, self.cut(self.noises, count), made)
        loud = 10 ** (self.uniform(-34, -17, count) / 20)
        near = near / level(near) * loud * (torch.rand(count, 1, device=self.device) < 0.9)
        u = torch.rand(count, 1, device=self.device)
        rest = far / level(far) * loud * 10 ** (-self.uniform(-2, 22, count) / 20) * (u < 0.6)
        rest = rest + noise / level(noise) * loud * 10 ** (-self.uniform(-3, 25, count) / 20) * ((u > 0.4) & (u < 0.9))
        hiss = torch.randn_like(near) * 10 ** (self.uniform(-92, -70, count) / 20)
        return near + rest + hiss, near, loud


@torch.no_grad()
def examples(scenes, core, count):
    """What the band layers see of some scenes, and magnitudes above 8 kHz: of the mixture and of the near talker."""
    analysis = spectrum.windows(RATE_HZ)[0].to(scenes.device)
    mix, near, loud = scenes.draw(count)
    unit = loud[..., None] * float(analysis.pow(2).sum().sqrt())
    x = spectrum.analyse(mix, analysis, RATE_HZ)[..., :KEPT]
    s = spectrum.analyse(near, analysis, RATE_HZ)[..., BINS:KEPT]
    power = x.abs().pow(2) * (spectrum.RATE_HZ / RATE_HZ) ** 2
    low = power[..., :BINS]
    _, both = core.layers(features(low))
    logit = remembering(core.near(both)[..., 0])
    bands = band_features(power[..., BINS:], peak_levels(low)[1])
    return both, bands, logit, x[:, :-1, BINS:].abs() / unit, s[:, :-1].abs() / unit


def keep(scenes, core, count, at_once=16):
    parts = [examples(scenes, core, at_once) for _ in range(math.ceil(count / at_once))]
    return [torch.cat(tensors) for tensors in zip(*parts)]


def main():
    args = arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    core, _ = load(args.core)
    core = core.to(device)
    for parameter in core.parameters():
        parameter.requires_grad_(False)
    high = (load(args.high)[1] if args.high else HighBand(core.hidden)).train().to(device)
    optimizer = torch.optim.AdamW(high.parameters(), lr=args.rate, weight_decay=1e-4)
    scenes = Scenes(args.wide, args.library, device)
    kept = keep(scenes, core, args.kept) if args.kept else None
    recent = []
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 50) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / args.steps)))
        chosen = torch.randperm(args.kept)[: args.batch]
        both, bands, logit, x, wanted = [part[chosen] for part in kept] if kept else examples(scenes, core, args.batch)
        y = x * spread_bands(high(both, bands, logit))[:, 1:]
        difference = (y + 1e-5) ** 0.35 - (wanted + 1e-5) ** 0.35
        loss = (torch.where(difference < 0, 2.0, 1.0) * difference**2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        recent.append(float(loss.detach()))
        if (step + 1) % 150 == 0:
            print("high band", step + 1, round(float(np.mean(recent[-150:])), 5), flush=True)
    state = {f"core.{k}": v.cpu() for k, v in core.state_dict().items()}
    state |= {f"high.{k}": v.cpu() for k, v in high.state_dict().items()}
    torch.save(state, args.out / "pro.pt")


if __name__ == "__main__":
    main()
