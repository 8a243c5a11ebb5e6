"""Music on hold, alone on the line: how much of it is removed, and how much of what is left is taken for a voice.

python -m viva.evaluate_hold moh rnnoise gtcrn ulunas_stream_simple.onnx tel.viva --detectors silero_v6.npz silero_v5.npz silero_v4.onnx
"""

import argparse
import pathlib

import numpy as np
import torch

from .evaluate import open_detector, open_filter, to_16k
from .scenes import mu_law, read, telephone

SECONDS = 60
CLOSED_S = 5


def lines(path):
    """The first minute of a piece as a microphone's 16 kHz and as a phone line."""
    x = read(path)[: SECONDS * 16_000]
    yield 16_000, x.astype(np.float32)
    yield 8_000, mu_law(telephone(x)).astype(np.float32)


def removed_db(x, y):
    return -10 * np.log10(((y**2).mean() + 1e-12) / (x.astype(np.float64) ** 2).mean())


@torch.no_grad()
def share_of_voice(detector, x):
    return 100 * float((detector(torch.from_numpy(x.astype(np.float32))[None]) > 0).float().mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("music", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--detectors", nargs="+", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    detectors = {pathlib.Path(path).stem.removeprefix("silero_"): open_detector(path) for path in args.detectors}
    print(f"| piece | rate | model | removed dB | after {CLOSED_S} s | " + " | ".join(f"voice by {name} %" for name in detectors) + " |")
    print("| --- " * (5 + len(detectors)) + "|")
    filters = {pathlib.Path(path).stem: open_filter(path) for path in args.models}
    for piece in sorted(args.music.glob("*.g722")):
        for rate_hz, x in lines(piece):
            for name, filtered in filters.items():
                y = filtered(x, rate_hz).astype(np.float64)
                removed = " | ".join(f"{removed_db(x[start:], y[start:]):.1f}" for start in (0, CLOSED_S * rate_hz))
                voice = " | ".join(f"{share_of_voice(d, to_16k(y, rate_hz == 8_000)):.1f}" for d in detectors.values())
                print(f"| {piece.stem} | {rate_hz // 1000} kHz | {name} | {removed} | {voice} |", flush=True)


if __name__ == "__main__":
    main()
