"""Writes the engine's reference vectors: what this implementation makes of a recording at several rates.

python -m viva.reference ../packages/viva/models ../packages/viva/src/testing/reference [voice.wav]
"""

import argparse
import json
import pathlib

import numpy as np
import soundfile
import torch
from scipy import signal

from .isolate import isolate
from .model_file import read

CASES = [("tel", 8_000, 1.5), ("tel", 16_000, 1.5), ("tel", 24_000, 0.6), ("pro", 32_000, 1.0), ("pro", 48_000, 0.6)]


def noisy(path, rate_hz, seconds):
    """The recording's beginning with noise at 12 dB below it."""
    voice, rate = soundfile.read(path, always_2d=True)
    common = np.gcd(rate, rate_hz)
    voice = signal.resample_poly(voice.mean(1), rate_hz // common, rate // common)[: int(seconds * rate_hz)]
    noise = np.random.default_rng(1).normal(size=len(voice))
    mixed = voice / voice.std() + noise * 10 ** (-12 / 20)
    return np.clip(mixed * 0.05 * 32768, -32768, 32767).astype(np.int16)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("voice", nargs="?", help="without it, the recordings that are there are filtered again")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    cases = []
    for name, rate_hz, seconds in CASES:
        if not (args.models / f"{name}.viva").exists():
            continue
        header, network, high_band = read(args.models / f"{name}.viva")
        file = f"{name}-{rate_hz}"
        samples = noisy(args.voice, rate_hz, seconds) if args.voice else np.fromfile(args.out / f"{file}.in.s16", "<i2")
        out, _, near = isolate(network, torch.from_numpy(samples.astype(np.float32) / 32768), rate_hz, high_band)
        samples.astype("<i2").tofile(args.out / f"{file}.in.s16")
        (out.numpy() * 32768).round().clip(-32768, 32767).astype("<i2").tofile(args.out / f"{file}.out.s16")
        cases.append(dict(file=file, model=name, sampleRateHz=rate_hz, payloadSha256=header["payloadSha256"]))
        print(file, len(samples), "near", round(float((near > 0.5).float().mean()), 3))
    (args.out / "cases.json").write_text(json.dumps(cases, indent=2) + "\n")


if __name__ == "__main__":
    main()
