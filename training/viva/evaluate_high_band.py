"""What `pro` does to 8 to 16 kHz, beside stretching the gain of 5.5 to 8 kHz over it.

python -m viva.evaluate_high_band ../packages/viva/models/pro.viva --digits AudioMNIST/data --sentences dataset-voice-kerstin/verified --environment ESC-50
"""

import argparse
import csv
import pathlib

import numpy as np
import soundfile
import torch
from scipy import signal

from . import spectrum
from .isolate import gains_of
from .measures import si_sdr
from .model_file import read as read_model
from .network import BINS
from .scenes import HELD_OUT_DIGITS

RATE_HZ = 32_000
HIGH = signal.butter(8, 8300, "hp", fs=RATE_HZ, output="sos")


def read(path):
    x, rate = soundfile.read(path, always_2d=True)
    common = np.gcd(rate, RATE_HZ)
    return signal.resample_poly(x.mean(1), RATE_HZ // common, rate // common)


def active_level(x):
    power = (x[: len(x) // 320 * 320].reshape(-1, 320) ** 2).mean(1)
    return np.sqrt(power[power > power.max() * 1e-3].mean())


def in_room(x, rng):
    decay, t = rng.uniform(0.3, 0.8), np.arange(16_000) / RATE_HZ
    tail = rng.normal(size=16_000) * 10 ** (-3 * t / decay)
    tail = signal.sosfilt(signal.butter(1, 5000, fs=RATE_HZ, output="sos"), tail)
    response = tail / np.linalg.norm(tail) * 10 ** (-rng.uniform(-6, 0) / 20)
    response[0] += 1
    return signal.fftconvolve(x, response)[: len(x)]


def scene(kind, files, sentences, sounds, rng):
    """Digits in three groups, with silence between; the rest 10 dB below them."""
    pause = int(2.5 * RATE_HZ)
    parts, spoken = [np.zeros(2 * RATE_HZ)], [np.zeros(2 * RATE_HZ, bool)]
    for _ in range(3):
        said = np.concatenate([read(files[rng.integers(len(files))]) for _ in range(5)])
        tail = RATE_HZ // 5
        parts += [said, np.zeros(pause)]
        spoken += [np.ones(len(said) + tail, bool), np.zeros(pause - tail, bool)]
    near, spoken = np.concatenate(parts), np.concatenate(spoken)
    near = near / active_level(near) * 10 ** (-25 / 20)
    rest = np.zeros(len(near))
    if kind == "talker":
        rest = in_room(np.resize(np.concatenate([read(sentences[rng.integers(len(sentences))]) for _ in range(5)]), len(near)), rng)
    if kind == "noise":
        rest = np.resize(read(sounds[rng.integers(len(sounds))]), len(near))
    if kind != "clean":
        rest = rest / active_level(rest) * active_level(near) * 10 ** (-10 / 20)
    return near + rest + rng.normal(size=len(near)) * 10 ** (-78 / 20), near, spoken


@torch.no_grad()
def filtered(network, high_band, mix, stretched):
    analysis, synthesis = spectrum.windows(RATE_HZ)
    x = torch.from_numpy(np.pad(mix, (0, 960 + (-len(mix)) % 320)).astype(np.float32))[None]
    spectra = spectrum.analyse(x, analysis, RATE_HZ)
    gains, _ = gains_of(network, spectra, RATE_HZ, high_band)
    if stretched:
        gains[..., BINS:] = gains[..., 176:BINS].mean(-1, keepdim=True)
    return spectrum.synthesise(spectra[:, :-1] * gains[:, 1:], synthesis, RATE_HZ)[0, : len(mix)].numpy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    for name in ("digits", "sentences", "environment"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    _, network, high_band = read_model(args.model)
    rng = np.random.default_rng(7)
    sentences = sorted(args.sentences.glob("*.flac"))[1::8]
    rows = csv.DictReader(open(args.environment / "meta/esc50.csv"))
    sounds = [args.environment / "audio" / r["filename"] for r in rows if r["fold"] in "45" and r["esc10"] == "True" and r["category"] in ("rain", "sea_waves", "crackling_fire", "helicopter", "chainsaw")]
    decibels = lambda x: 10 * np.log10((x**2).mean() + 1e-14)
    print("| scene (n) | 8 to 16 kHz by | SI-SDR in speech, before | after | level in speech dB | in silence dB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in ("clean", "talker", "noise"):
        made = [scene(kind, sorted((args.digits / speaker).glob("*.wav")), sentences, sounds, rng) for speaker in HELD_OUT_DIGITS]
        for stretched in (True, False):
            found = []
            for mix, near, spoken in made:
                y = filtered(network, high_band, mix, stretched)
                near, mix, y = (signal.sosfiltfilt(HIGH, v) for v in (near, mix, y))
                found.append([si_sdr(near[spoken], mix[spoken]), si_sdr(near[spoken], y[spoken]), decibels(y[spoken]) - decibels(near[spoken]), decibels(y[~spoken]) - decibels(mix[~spoken])])
            before, after, level, silence = np.mean(found, 0)
            print(f"| {kind} ({len(made)}) | {'stretched gain' if stretched else 'trained bands'} | {before:.1f} | {after:.1f} | {level:+.1f} | {silence:+.1f} |", flush=True)


if __name__ == "__main__":
    main()
