"""Judges by when a voice begins: a caller or a stranger alone, so many seconds after the line opened, and a stranger 1 s after the caller.

python -m viva.evaluate_starts scenes/test tel.viva --detectors silero_v6.npz silero_v5.npz silero_v4.onnx

Voices come from the scenes: callers are their near talkers, alone, and strangers what other scenes have in place of silence, as loud as there.
"""

import argparse
import json
import pathlib

import numpy as np
import torch

from .evaluate import hear, in_16_bits, open_detector, open_filter

RATE_HZ = 16_000
BEGINS_S = (0, 0.5, 1, 1.5, 2, 3, 5, 8, 15, 30)
STRANGERS = ("talker", "close", "television")
HEARD_S = 3
HISS_DB = -75
OPENING = 4_800  # the first 300 ms
LOST_DB = LEFT_DB = -10
# A turn opens after 100 ms of speech (`startMs` of the SDK), to the nearest window of 32 ms.
START_WINDOWS, WINDOW = 3, 512


def hiss(rng, count):
    return rng.normal(size=count) * 10 ** (HISS_DB / 20)


def from_its_start(x):
    """From where the voice begins: the first 20 ms within 25 dB of its loudest."""
    levels = 10 * np.log10((x[: len(x) // 320 * 320].reshape(-1, 320) ** 2).mean(1) + 1e-12)
    return x[max(0, np.flatnonzero(levels > levels.max() - 25)[0] * 320 - 160) :]


def first_sentence(near, spoken):
    begins = np.flatnonzero(spoken)[0]
    pauses = np.flatnonzero(~spoken[begins:])
    ends = begins + pauses[0] if len(pauses) else len(spoken)
    return from_its_start(near[begins * 160 : ends * 160])


def change_db(y, x):
    return 10 * np.log10(((y**2).mean() + 1e-12) / ((x**2).mean() + 1e-12))


def opens_turn(heard, first):
    run = 0
    for is_voice in heard[first // WINDOW :] > 0.5:
        run = run + 1 if is_voice else 0
        if run >= START_WINDOWS:
            return True
    return False


class Curves:
    def __init__(self, detectors, rng):
        self.detectors, self.rng, self.found = detectors, rng, {}

    def add(self, filtered, before, voice, row):
        """`before` is what the line has carried when the voice begins."""
        x = np.concatenate([before, voice])
        x = x + hiss(self.rng, len(x))
        y = filtered(in_16_bits(x.astype(np.float32)), RATE_HZ).astype(np.float64)
        start = len(before)
        turns = {name: opens_turn(heard, start) for name, heard in hear(self.detectors, y).items()}
        opening = change_db(y[start : start + OPENING], x[start : start + OPENING]) < LOST_DB
        self.found.setdefault(row, []).append(dict(lost=opening, left=change_db(y[start:], x[start:]) > LEFT_DB, **turns))

    def print(self, name):
        print(f"| {name} | voices | first 300 ms lost % | let through % | " + " | ".join(f"turns by {d} %" for d in self.detectors) + " |")
        print("| --- " * (4 + len(self.detectors)) + "|")
        for (who, when), found in self.found.items():
            share = lambda key: f"{100 * np.mean([f[key] for f in found]):.0f}"
            print(f"| {who}, {when} | {len(found)} | {share('lost')} | {share('left')} | " + " | ".join(share(d) for d in self.detectors) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenes", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--detectors", nargs="+", required=True)
    parser.add_argument("--every", type=int, default=1, help="takes one scene of so many of each kind")
    args = parser.parse_args()
    torch.set_num_threads(1)
    detectors = {pathlib.Path(path).stem.removeprefix("silero_"): open_detector(path) for path in args.detectors}
    meta = [m for m in json.loads((args.scenes / "meta.json").read_text()) if not m["narrow"]]
    scenes = {kind: [dict(np.load(args.scenes / f"{m['name']}.npz")) for m in meta if m["kind"] == kind][:: args.every] for kind in ("clean", *STRANGERS)}
    callers = [first_sentence(s["near"].astype(np.float64), s["spoken"]) for found in scenes.values() for s in found]
    strangers = [(kind, s["near"].astype(np.float64), s["mix"] - s["near"].astype(np.float64), s["spoken"]) for kind in STRANGERS for s in scenes[kind]]
    strangers = [(kind, from_its_start(rest)[: HEARD_S * RATE_HZ], first_sentence(near, spoken)) for kind, near, rest, spoken in strangers]
    for model in args.models:
        filtered, curves = open_filter(model), Curves(detectors, np.random.default_rng(0))
        for begins in BEGINS_S:
            silence = np.zeros(int(begins * RATE_HZ))
            for caller in callers:
                curves.add(filtered, silence, caller, ("caller", f"{begins} s"))
            for kind, stranger, _ in strangers:
                curves.add(filtered, silence, stranger, (kind, f"{begins} s"))
        for kind, stranger, caller in strangers:
            before = np.concatenate([np.zeros(RATE_HZ), caller, np.zeros(RATE_HZ)])
            curves.add(filtered, before, stranger, (kind, "1 s after the caller"))
        curves.print(pathlib.Path(model).stem)


if __name__ == "__main__":
    main()
