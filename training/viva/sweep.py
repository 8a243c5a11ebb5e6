"""Judges many checkpoints at once on a GPU, to choose among averages and gates; the figures that count are those of `evaluate`.

python -m viva.sweep scenes/dev out/sweep.json --detectors silero_v6.npz silero_v5.npz --models a.pt b.pt --shares 0.3,0.7 0.5,0.5 --gates=-0.3,0.7

Shares are of the models, in their order.
"""

import argparse
import json
import pathlib

import numpy as np
import torch

from . import export, spectrum
from .evaluate_starts import BEGINS_S, HEARD_S, LOST_DB, OPENING, STRANGERS, first_sentence, from_its_start, hiss, opens_turn
from .evaluate import in_16_bits
from .isolate import gains_of
from .measures import detections
from .scenes import orders
from .silero import Silero

AT_ONCE = 45  # not a multiple of 16: then recurrent layers are cuDNN's, which round less


def read_scenes(folder):
    for m in json.loads((folder / "meta.json").read_text()):
        yield m, dict(np.load(folder / f"{m['name']}.npz"))


class Line:
    """Signals of one rate, filtered together."""

    def __init__(self, rate_hz, device):
        self.rate_hz, self.device, self.signals = rate_hz, device, []

    def add(self, x):
        self.signals.append(np.asarray(x, np.float32))
        return len(self.signals) - 1

    @torch.no_grad()
    def filtered(self, network):
        """What is left of each, in 16 bits."""
        analysis, synthesis = (w.to(self.device) for w in spectrum.windows(self.rate_hz))
        order, out = sorted(range(len(self.signals)), key=lambda i: len(self.signals[i])), {}
        for start in range(0, len(order), AT_ONCE):
            chosen = order[start : start + AT_ONCE]
            x = batch([self.signals[i] for i in chosen], self.rate_hz // 10, self.device)
            if network is not None:
                spectra = spectrum.analyse(x, analysis, self.rate_hz)
                gains, _ = gains_of(network, spectra, self.rate_hz)
                x = spectrum.synthesise(spectra[:, :-1] * gains[:, 1:], synthesis, self.rate_hz)
            x = (torch.round(x * 32768).clamp(-32768, 32767) / 32768).cpu().numpy()
            out |= {i: row[: len(self.signals[i])] for i, row in zip(chosen, x)}
        return [out[i] for i in range(len(order))]


def batch(signals, more, device):
    longest = max(map(len, signals)) + more
    longest += -longest % (more // 10)
    return torch.from_numpy(np.stack([np.pad(x, (0, longest - len(x))) for x in signals])).to(device)


@torch.no_grad()
def heard(detector, signals, device):
    """How likely a voice is, in each window of each signal."""
    order, out = sorted(range(len(signals)), key=lambda i: len(signals[i])), {}
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        found = torch.sigmoid(detector(batch([signals[i] for i in chosen], 16_000, device))).cpu().numpy()
        out |= {i: row[: len(signals[i]) // (2 * detector.window)] for i, row in zip(chosen, found)}
    return [out[i] for i in range(len(order))]


class Judge:
    def __init__(self, scenes, detectors, device):
        """`detectors` by rate and name; phone lines are judged at 8 kHz."""
        self.detectors, self.device = detectors, device
        self.lines = {rate: Line(rate, device) for rate in (16_000, 8_000)}
        self.scenes, self.starts = [], []
        scenes = list(scenes)
        for m, scene in scenes:
            rate = 8_000 if m["narrow"] else 16_000
            given = {"as laid out": scene} if m["kind"] == "clean" else orders(scene, m["narrow"])
            for order, s in given.items():
                row = dict(kind=m["kind"], narrow=m["narrow"], half=int(m["name"][1:]) % 2, order=order, spoken=s["spoken"], near=s["near"])
                self.scenes.append(row | dict(rate=rate, at=self.lines[rate].add(in_16_bits(s["mix"]))))
        self.add_starts([(m, s) for m, s in scenes if not m["narrow"]])
        self.near = {rate: self.hear(rate, {r["at"]: r["near"] for r in self.scenes if r["rate"] == rate}) for rate in self.lines}

    def add_starts(self, scenes):
        rng = np.random.default_rng(0)
        put = lambda kind, when, before, voice: self.starts.append(dict(kind=kind, when=when, start=len(before), x=np.concatenate([before, voice])))
        for m, s in scenes:
            caller = first_sentence(s["near"].astype(np.float64), s["spoken"])
            stranger = from_its_start(s["mix"] - s["near"].astype(np.float64))[: HEARD_S * 16_000] if m["kind"] in STRANGERS else None
            for begins in BEGINS_S:
                if m["kind"] in ("clean", *STRANGERS):
                    put("caller", begins, np.zeros(int(begins * 16_000)), caller)
                if stranger is not None:
                    put(m["kind"], begins, np.zeros(int(begins * 16_000)), stranger)
            if stranger is not None:
                put(m["kind"], "after", np.concatenate([np.zeros(16_000), caller, np.zeros(16_000)]), stranger)
        for s in self.starts:
            s["x"] = s["x"] + hiss(rng, len(s["x"]))
            s["at"] = self.lines[16_000].add(in_16_bits(s["x"]))

    def hear(self, rate, signals):
        """By detector, and by the signals' numbers."""
        keys = list(signals)
        return {name: dict(zip(keys, heard(d, [signals[k] for k in keys], self.device))) for name, d in self.detectors[rate].items()}

    def judge(self, network):
        found = []
        out = {rate: line.filtered(network) for rate, line in self.lines.items()}
        voice = {rate: self.hear(rate, dict(enumerate(signals))) for rate, signals in out.items()}
        for r in self.scenes:
            y, near, inside = out[r["rate"]][r["at"]], r["near"], np.repeat(r["spoken"], r["rate"] // 100)
            count = min(len(inside), len(y))
            power = lambda x: float((x[:count][inside[:count]].astype(np.float64) ** 2).sum())
            row = {k: r[k] for k in ("kind", "narrow", "half", "order")} | dict(level=10 * np.log10(power(y) / power(near)))
            for name in self.detectors[r["rate"]]:
                row[name] = detections(voice[r["rate"]][name][r["at"]], self.near[r["rate"]][name][r["at"]], r["spoken"])
            found.append(row)
        starts = []
        for s in self.starts:
            y, x, start = out[16_000][s["at"]].astype(np.float64), s["x"], s["start"]
            change = lambda count: 10 * np.log10(((y[start : start + count] ** 2).mean() + 1e-12) / (x[start : start + count] ** 2).mean())
            turns = {name: opens_turn(voice[16_000][name][s["at"]], start) for name in self.detectors[16_000]}
            starts.append(dict(kind=s["kind"], when=s["when"], lost=bool(change(OPENING) < LOST_DB), left=bool(change(len(y)) > LOST_DB), **turns))
        return found, starts


def line_of(found, starts, detector="v5"):
    """One line of figures: false / missed of all scenes at 16 kHz by order, of some kinds, of phone lines; levels of clean voices; starts."""

    def rates(chosen):
        rows = [r[detector] for r in found if chosen(r)]
        total = lambda key: sum(r[key] for r in rows)
        return f"{100 * total('false') / max(1, total('silent')):.1f}/{100 * total('missed') / max(1, total('active')):.1f}"

    by_order = lambda chosen: " ".join(rates(lambda r, o=o: r["order"] == o and r["kind"] != "clean" and chosen(r)) for o in dict.fromkeys(r["order"] for r in found))
    level = lambda narrow: np.mean([r["level"] for r in found if r["kind"] == "clean" and r["narrow"] == narrow])
    share = lambda key, who, when: 100 * np.mean([s[key] for s in starts if (s["kind"] == "caller") == (who == "caller") and when(s["when"])])
    early, late = (lambda w: w != "after" and w <= 1), (lambda w: w != "after" and w > 1)
    parts = [by_order(lambda r: not r["narrow"])]
    parts += [f"{half}: " + by_order(lambda r, h=half: not r["narrow"] and r["half"] == h) for half in (0, 1)]
    parts += [f"{kind} " + by_order(lambda r, k=kind: not r["narrow"] and r["kind"] == k) for kind in ("speakerphone", "close", "television", "talker", "babble", "steady", "music")]
    parts += ["8k " + by_order(lambda r: r["narrow"]), f"clean {level(False):+.2f} {level(True):+.2f} dB " + rates(lambda r: r["kind"] == "clean")]
    parts += [f"callers lost {share('lost', 'caller', early):.0f} {share('lost', 'caller', late):.0f}"]
    parts += [f"strangers {key} " + " ".join(f"{share(key, '', when):.0f}" for when in (early, late, lambda w: w == "after")) for key in ("left", detector)]
    return " | ".join(parts)


def mixed(states, shares, gate, gains):
    mean = {name: sum(share * state[name] for share, state in zip(shares, states)) for name in states[0] if all(name in s for s in states)}
    mean["core.near.bias"] = mean["core.near.bias"] + gate
    mean["core.gains.bias"] = mean["core.gains.bias"] + gains
    return mean


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenes", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--detectors", nargs="+", required=True)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--shares", nargs="+", required=True)
    parser.add_argument("--gates", nargs="+", default=["0,0"])
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    detectors = {16_000: {}, 8_000: {}}
    for path in args.detectors:
        detector = Silero(path).to(device)
        detectors[detector.rate_hz][pathlib.Path(path).stem.removeprefix("silero_").removesuffix("_8k")] = detector
    judge = Judge(read_scenes(args.scenes), detectors, device)
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in args.models]
    numbers = lambda text: [float(part) for part in text.split(",")]
    results = {}
    for shares in args.shares:
        for gate in args.gates:
            temporary = args.out.with_suffix(".pt")
            torch.save(mixed(states, numbers(shares), *numbers(gate)), temporary)
            network = export.round_to_bfloat16(export.load(temporary)[0]).to(device)
            found, starts = judge.judge(network)
            results[f"{shares} {gate}"] = line_of(found, starts)
            print(f"[{shares}] [{gate}] {results[f'{shares} {gate}']}", flush=True)
    args.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
