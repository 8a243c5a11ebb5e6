"""Judges models by scenes (viva/scenes.py) and prints the tables of docs/voice-isolation-figures.md.

python -m viva.evaluate scenes/test none rnnoise gtcrn ulunas_stream_simple.onnx tel.viva [other.pt …] --detectors silero_v6.npz silero_v5.npz silero_v4.onnx --out results.json
"""

import argparse
import json
import pathlib
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import torch
from scipy import signal

from . import export, model_file
from .isolate import isolate
from .measures import detections, si_sdr, stoi
from .scenes import fingerprint, orders
from .silero import Silero
from .silero_v4 import SileroV4
from .suppressors import RATES_HZ, suppress
from .ul_unas import UlUnas


def open_filter(path):
    """A function of samples and their rate: nothing, a suppressor of others, or a network. It gives 16 bits, as to a bot."""
    filtered = open_exact(path)
    return lambda x, rate_hz: in_16_bits(filtered(x, rate_hz))


def in_16_bits(x):
    """Below the last bit is nothing a bot could hear, and v4 judges otherwise when it is there."""
    return (np.round(x.astype(np.float64) * 32768).clip(-32768, 32767) / 32768).astype(np.float32)


def open_exact(path):
    if path == "none":
        return lambda x, rate_hz: x
    if path in RATES_HZ:
        return lambda x, rate_hz: suppress(path, x, rate_hz)
    if path.endswith(".onnx"):
        return UlUnas(path)
    network = model_file.read(path)[1] if path.endswith(".viva") else export.load(path)[0]
    return lambda x, rate_hz: isolate(network, torch.from_numpy(x), rate_hz)[0].numpy()


def raised(filtered):
    """The filter behind a converter from 8 to 16 kHz, as in a bot that asks for 16 kHz of a phone line."""

    def run(x, rate_hz):
        wide = in_16_bits(signal.resample_poly(x.astype(np.float64), 2, 1))
        return signal.resample_poly(filtered(wide, 2 * rate_hz).astype(np.float64), 1, 2)[: len(x)]

    return run


def open_detector(path):
    return SileroV4(path) if path.endswith(".onnx") else Silero(path)


def to_16k(x, narrow):
    return signal.resample_poly(x, 2, 1) if narrow else x


@torch.no_grad()
def hear(detectors, x):
    return {name: torch.sigmoid(detector(torch.from_numpy(x.astype(np.float32))[None]))[0].numpy() for name, detector in detectors.items()}


def hear_near(scene, narrow, detectors):
    return hear(detectors, to_16k(scene["near"].astype(np.float64), narrow))


def judge(scene, narrow, filtered, detectors, heard_near):
    mix, near, spoken = in_16_bits(scene["mix"]), scene["near"].astype(np.float64), scene["spoken"]
    y = filtered(mix, 8_000 if narrow else 16_000).astype(np.float64)
    y, near, mix = (to_16k(v, narrow) for v in (y, near, mix.astype(np.float64)))
    inside = np.repeat(spoken, 160)
    inside = np.pad(inside, (0, max(0, len(y) - len(inside))))[: len(y)]
    out = dict(stoi=stoi(near, y), stoi_in=stoi(near, mix), gain_sdr=si_sdr(near, y) - si_sdr(near, mix))
    out["level"] = 10 * np.log10((y[inside] ** 2).sum() / (near[inside] ** 2).sum())
    out["silence"] = 10 * np.log10(((y[~inside] ** 2).mean() + 1e-12) / ((mix[~inside] ** 2).mean() + 1e-12))
    heard = hear(detectors, y)
    return out | {name: detections(heard[name], heard_near[name], spoken) for name in detectors}


def summary(results, names):
    mean = lambda key: float(np.mean([r[key] for r in results]))
    row = dict(n=len(results), stoi=mean("stoi"), gain_sdr=mean("gain_sdr"), level=mean("level"), silence=mean("silence"))
    for name in names:
        total = lambda key: sum(r[name][key] for r in results)
        row[f"{name} false"] = 100 * total("false") / max(1, total("silent"))
        row[f"{name} missed"] = 100 * total("missed") / max(1, total("active"))
    return row


def print_table(models, groups, all_results, names):
    print("| scene (n) | model | " + " | ".join(f"{n} false / missed %" for n in names) + " | STOI | SI-SDR gain dB | level of speech dB | of silence dB |")
    print("| --- " * (6 + len(names)) + "|")
    for label, chosen in groups:
        for model in models:
            row = summary([r for r in all_results[model] if chosen(r)], names)
            found = " | ".join(f"{row[f'{n} false']:.1f} / {row[f'{n} missed']:.1f}" for n in names)
            print(f"| {label} ({row['n']}) | {pathlib.Path(model).stem} | {found} | {row['stoi']:.3f} | {row['gain_sdr']:+.1f} | {row['level']:+.1f} | {row['silence']:+.1f} |")


def print_first_words(models, groups, all_results, names):
    print("First 1.5 s of the near talker, missed % by " + ", ".join(names))
    for label, chosen in [("all", lambda r: True), *groups]:
        for model in models:
            found = [r for r in all_results[model] if chosen(r)]
            total = lambda name, key: sum(r[name][key] for r in found)
            missed = [100 * total(name, "first_missed") / max(1, total(name, "first")) for name in names]
            print(f"{label}, {pathlib.Path(model).stem}: " + ", ".join(f"{share:.1f}" for share in missed))


def print_orders(models, groups, all_results, names):
    """False / missed % by each detector, for each order of events."""
    found = list(dict.fromkeys(r["order"] for r in all_results[models[0]]))
    print("| scene | model | detector | " + " | ".join(found) + " |")
    print("| --- " * (3 + len(found)) + "|")
    for label, chosen in [("all", lambda r: True), *groups]:
        for model in models:
            rows = [summary([r for r in all_results[model] if chosen(r) and r["order"] == order], names) for order in found]
            for name in names:
                print(f"| {label} | {pathlib.Path(model).stem} | {name} | " + " | ".join(f"{r[f'{name} false']:.1f} / {r[f'{name} missed']:.1f}" for r in rows) + " |")


def detector_name(path):
    return pathlib.Path(path).stem.removeprefix("silero_")


# What one worker needs for every scene.
prepared = {}


def prepare(args):
    torch.set_num_threads(1)
    filters = {path: raised(open_filter(path)) if args.raised else open_filter(path) for path in args.models}
    prepared.update(args=args, filters=filters, detectors={detector_name(path): open_detector(path) for path in args.detectors})


def judge_scene(m):
    args, detectors = prepared["args"], prepared["detectors"]
    scene, narrow, rows = np.load(args.scenes / f"{m['name']}.npz"), m["narrow"], []
    for order, ordered in orders(scene, narrow).items() if args.orders else [("as laid out", scene)]:
        heard_near = hear_near(ordered, narrow, detectors)
        for path, filtered in prepared["filters"].items():
            rows.append((path, m | dict(order=order) | judge(ordered, narrow, filtered, detectors, heard_near)))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenes", type=pathlib.Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--detectors", nargs="+", required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--by-ratio", action="store_true", help="a row for each signal-to-noise ratio")
    parser.add_argument("--raised", action="store_true", help="8 kHz scenes alone, brought to 16 kHz before the filter")
    parser.add_argument("--orders", action="store_true", help="scenes with a background, in every order of events (viva/scenes.py)")
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    meta = json.loads((args.scenes / "meta.json").read_text())
    if args.raised:
        meta = [m for m in meta if m["narrow"]]
    if args.orders:
        meta = [m for m in meta if m["kind"] != "clean"]
    results, names = {path: [] for path in args.models}, [detector_name(path) for path in args.detectors]
    with ProcessPoolExecutor(args.workers, initializer=prepare, initargs=(args,)) as pool:
        for rows in pool.map(judge_scene, meta):
            for path, row in rows:
                results[path].append(row)
    if args.out:
        args.out.write_text(json.dumps(results))
    kinds = list(dict.fromkeys((m["kind"], m["narrow"]) for m in meta))
    groups = [(("8 kHz " if narrow else "") + kind, lambda r, k=kind, w=narrow: r["kind"] == k and r["narrow"] == w) for kind, narrow in kinds]
    if args.by_ratio:
        groups = [(f"{label} {snr} dB", lambda r, c=chosen, s=snr: c(r) and r["snr"] == s) for label, chosen in groups for snr in (0, 5, 10, 15) if any(chosen(m) and m["snr"] == snr for m in meta)]
    print("Scenes", fingerprint(args.scenes))
    if args.orders:
        return print_orders(args.models, groups, results, names)
    print_table(args.models, groups, results, names)
    print_first_words(args.models, groups, results, names)


if __name__ == "__main__":
    main()
