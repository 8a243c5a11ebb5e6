"""Makes the scenes the model is judged by, from speakers, noises, music and rooms that training never saw.

python -m viva.scenes dev  --speech speechocean762/WAVE --digits AudioMNIST/data --prompts sounds --environment ESC-50 --music moh --out scenes/dev
python -m viva.scenes test …

A scene is one near talker who says three things with silence between, and something that goes on all the while.
"""

import argparse
import csv
import hashlib
import json
import pathlib
import re
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import soundfile
from scipy import signal

RATE_HZ = 16_000
HELD_OUT_DIGITS = ("05", "12", "23", "34", "45", "56")
STEADY = "rain wind vacuum_cleaner washing_machine engine airplane train sea_waves helicopter crackling_fire".split()
PLAN = [("clean", [99], 8, False)]
PLAN += [(kind, [0, 5, 10, 15], 4, False) for kind in ("steady", "changing", "music", "babble")]
PLAN += [("talker", [0, 5, 10, 15], 6, False)]
PLAN += [(kind, [5, 10, 15], 4, False) for kind in ("close", "television")]
PLAN += [("speakerphone", [10], 6, False)]
PLAN += [("clean", [99], 4, True)] + [(kind, [0, 5, 10, 15], 3, True) for kind in ("steady", "talker")]
PLAN += [("television", [5, 10, 15], 2, True)]


def read(path):
    if path.suffix == ".g722":
        import av

        with av.open(str(path), format="g722") as file:
            x = np.concatenate([frame.to_ndarray()[0] for frame in file.decode(audio=0)]).astype(np.float64)
            return x / (32768 if np.abs(x).max() > 1.5 else 1)
    x, rate = soundfile.read(path, always_2d=True)
    common = np.gcd(rate, RATE_HZ)
    return signal.resample_poly(x.mean(1), RATE_HZ // common, rate // common)


def levels(x):
    return 10 * np.log10((x[: len(x) // 160 * 160].reshape(-1, 160) ** 2).mean(1) + 1e-12)


def active_level(x):
    d = levels(x)
    return np.sqrt((10 ** (d[d > d.max() - 30] / 10)).mean())


def trim(x):
    d = levels(x)
    k = np.flatnonzero(d > d.max() - 38)
    return x[max(0, k[0] - 3) * 160 : (k[-1] + 6) * 160]


def is_quiet_behind(path):
    x = read(path)
    d = levels(x)
    loudest = np.percentile(d, 98)
    return len(x) > 1.5 * RATE_HZ and 10 * np.log10((10 ** (d[d > loudest - 25] / 10)).mean()) - np.percentile(d, 4) > 30


class Sources:
    """What one set is made of: the development and the test set share no speaker, sound, prompt or piece of music."""

    def __init__(self, args):
        turn = dict(dev=0, test=1)[args.set]
        speakers = sorted(p for p in args.speech.iterdir())[::16][turn::2]  # every 16th is held out
        self.near = {s.name: [f for f in sorted(s.glob("*.WAV")) if is_quiet_behind(f)] for s in speakers}
        for name in HELD_OUT_DIGITS[turn::2]:
            self.near[name] = sorted((args.digits / name).glob("*.wav"))[:80]
        self.near = {name: files for name, files in self.near.items() if len(files) >= 4}
        prompts = [[f for f in sorted(d.rglob("*.g722")) if f.stat().st_size > 20_000] for d in sorted(args.prompts.iterdir())]
        self.far = [files[turn::2] for files in prompts if len(files) > 20]
        licences = dict(re.findall(r"- \[(\d-\d+-[A-Z])\.ogg\].*\[([^\]]+)\]\s*$", (args.environment / "LICENSE").read_text(), re.M))
        self.sounds = {}
        for row in csv.DictReader(open(args.environment / "meta/esc50.csv")):
            free = row["esc10"] == "True" or licences.get("-".join(row["filename"].split("-")[:3])) in ("CC0", "CC-BY")
            if row["fold"] == "45"[turn] and free:
                self.sounds.setdefault(row["category"], []).append(args.environment / "audio" / row["filename"])
        self.music = sorted(args.music.glob("*.g722"))[turn::2]


class Maker:
    def __init__(self, sources, seed):
        self.sources, self.rng = sources, np.random.default_rng(seed)

    def choose(self, items):
        return items[int(self.rng.integers(len(items)))]

    def room(self, distance, decay, box=((3, 3, 2.3), (8, 8, 3.2))):
        """Image sources in a shoe box, written apart from the training's."""
        rng, c = self.rng, 343.0
        size = rng.uniform(*box)
        microphone = size * rng.uniform(0.25, 0.75, 3)
        for _ in range(200):
            direction = rng.normal(size=3) * [1, 1, 0.4]
            source = microphone + direction / np.linalg.norm(direction) * rng.uniform(*distance)
            if ((source > 0.2) & (source < size - 0.2)).all():
                break
        source = np.clip(source, 0.2, size - 0.2)
        decay = rng.uniform(*decay)
        surface = 2 * (size[0] * size[1] + size[0] * size[2] + size[1] * size[2])
        beta = np.sqrt(1 - min(0.95, 0.161 * size.prod() / (surface * decay)))
        longest = min(decay, 0.6)
        axes = []
        for d in range(3):
            n = np.arange(-int(np.ceil(longest * c / (2 * size[d]))), int(np.ceil(longest * c / (2 * size[d]))) + 1)
            shift = 2 * n * size[d] - microphone[d]
            axes.append((np.concatenate([source[d] + shift, -source[d] + shift]), np.concatenate([2 * np.abs(n), np.abs(n - 1) + np.abs(n)])))
        (x, bx), (y, by), (z, bz) = axes
        distance = np.sqrt(x[:, None, None] ** 2 + y[None, :, None] ** 2 + z[None, None, :] ** 2).ravel()
        bounces = (bx[:, None, None] + by[None, :, None] + bz[None, None, :]).ravel()
        kept = distance < c * longest
        amplitude = beta ** bounces[kept] / np.maximum(distance[kept], 0.05)
        amplitude *= np.where((bounces[kept] > 2) & (rng.random(kept.sum()) < 0.3), -1, 1)
        t = distance[kept] / c * RATE_HZ
        i = t.astype(int)
        h = np.zeros(int(longest * RATE_HZ) + 64)
        np.add.at(h, i, amplitude * (1 - (t - i)))
        np.add.at(h, i + 1, amplitude * (t - i))
        h = signal.sosfilt(signal.butter(2, 60, "hp", fs=RATE_HZ, output="sos"), h)
        return h[max(0, np.argmax(np.abs(h)) - 8) :]

    def little_room(self):
        """Decaying noise behind a strong direct sound: a loudspeaker in a furnished room."""
        rng = self.rng
        decay, count = rng.uniform(0.2, 0.5), 8000
        t = np.arange(count) / RATE_HZ
        tail = np.zeros(count)
        for low, high, share in ((60, 500, 1.15), (500, 2000, 1.0), (2000, 7500, 0.65)):
            band = signal.butter(2, [low, high], "bp", fs=RATE_HZ, output="sos")
            tail += signal.sosfilt(band, rng.normal(size=count)) * 10 ** (-3 * t / (decay * share))
        tail = np.concatenate([np.zeros(int(rng.uniform(0.001, 0.006) * RATE_HZ)), tail])
        h = tail / np.linalg.norm(tail) * 10 ** (-rng.uniform(-2, 6) / 20)
        h[0] = 1
        return h

    def near(self, speaker, far_away):
        rng = self.rng
        if far_away:
            h = self.room((0.6, 1.1), (0.25, 0.5))
        else:
            h = self.room((0.05, 0.35), (0.2, 0.5), ((2.5, 2.5, 2.3), (6, 6, 3))) if rng.random() < 0.7 else np.ones(1)
        parts, marks = [np.zeros(int(rng.uniform(2, 3) * RATE_HZ))], []
        position = len(parts[0])
        for _ in range(3):
            x = self.utterance(self.sources.near[speaker])
            x = x / active_level(x) * 10 ** (rng.normal() / 20)
            marks.append((position, position + len(x)))
            silence = np.zeros(int(rng.uniform(2.2, 3.6) * RATE_HZ))
            parts += [x, silence]
            position += len(x) + len(silence)
        x = np.concatenate(parts)
        x = signal.fftconvolve(x, h)[: len(x)]
        return x / active_level(x) * 10 ** (rng.uniform(-30, -20) / 20), marks, len(h)

    def utterance(self, files):
        """A sentence, or five digits."""
        first = trim(read(self.choose(files)))
        if len(first) > 1.2 * RATE_HZ:
            return first
        gap = lambda: np.zeros(int(self.rng.uniform(0.05, 0.3) * RATE_HZ))
        return np.concatenate([p for _ in range(5) for p in (trim(read(self.choose(files))), gap())])

    def talker(self, count, besides, h, change=lambda y: y):
        rng = self.rng
        others = [files for name, files in self.sources.near.items() if name != besides]
        files = self.choose(self.sources.far) if rng.random() < 0.6 else self.choose(others)
        out, position = np.zeros(count), int(rng.uniform(0, 0.5) * RATE_HZ)
        while position < count:
            x = self.utterance(files)
            x = (x / active_level(x))[: count - position]
            out[position : position + len(x)] += x
            position += len(x) + int(rng.uniform(0.1, 0.6) * RATE_HZ)
        return change(signal.fftconvolve(out, h)[:count])

    def duller(self, y):
        order, corner = int(self.rng.integers(1, 3)), self.rng.uniform(2500, 6000)
        return signal.sosfilt(signal.butter(order, corner, fs=RATE_HZ, output="sos"), y)

    def broadcast(self, y):
        return signal.sosfilt(signal.butter(2, [200, 6500], "bp", fs=RATE_HZ, output="sos"), y)

    def far_room(self):
        return self.room((2, 5), (0.3, 0.8), ((4, 4, 2.4), (8, 8, 3.2)))

    def sound(self, count, steady):
        names = [c for c in self.sources.sounds if (c in STEADY) == steady]
        category, parts, total = self.choose(names), [], 0
        while total < count:
            x = read(self.choose(self.sources.sounds[category if steady else self.choose(names)]))
            heard = np.flatnonzero(np.abs(x) > 1e-4)
            if len(heard) < RATE_HZ // 2:
                continue
            x = x[heard[0] : heard[-1] + 1]
            parts.append(x / (active_level(x) + 1e-9))
            total += len(x)
        return np.concatenate(parts)[:count]

    def background(self, kind, count, speaker):
        if kind == "steady" or kind == "changing":
            return self.sound(count, kind == "steady")
        if kind == "music":
            x = read(self.choose(self.sources.music))
            start = int(self.rng.integers(0, max(1, len(x) - count)))
            x = np.resize(x[start : start + count], count)
            return self.duller(signal.fftconvolve(x, self.far_room())[:count])
        if kind == "babble":
            return sum(self.talker(count, speaker, self.far_room(), self.duller) for _ in range(int(self.rng.integers(3, 6))))
        if kind == "close":
            return self.talker(count, speaker, self.room((0.6, 1.2), (0.25, 0.5)))
        if kind == "television":
            return self.talker(count, speaker, self.little_room(), self.broadcast)
        return self.talker(count, speaker, self.far_room(), self.duller)

    def scene(self, kind, snr, narrow, speaker):
        near, marks, tail = self.near(speaker, kind == "speakerphone")
        count = len(near)
        rest = np.zeros(count)
        if kind != "clean":
            rest = self.background(kind, count, speaker)
            rest = rest / active_level(rest) * active_level(near) * 10 ** (-snr / 20)
        mix = near + rest + self.rng.normal(size=count) * 10 ** (-75 / 20)
        gain = min(1.0, 0.95 / np.abs(mix).max())
        mix, near = mix * gain, near * gain
        if narrow:
            mix, near = mu_law(telephone(mix)), telephone(near)
        spoken = np.zeros(count // 160, bool)
        for start, end in marks:
            spoken[max(0, start // 160 - 2) : (end + tail) // 160 + 12] = True
        return dict(mix=mix.astype(np.float32), near=near.astype(np.float32), spoken=spoken)


LATER_S, AFTER_S, HISS_DB = 3, 0.3, -75


def orders(scene, narrow):
    """The scene as it is laid out, everything 3 s later, and with a background that begins 0.3 s after the caller's first sentence."""
    rng, rate = np.random.default_rng(0), RATE_HZ // 2 if narrow else RATE_HZ
    hiss = lambda count: rng.normal(size=count) * 10 ** (HISS_DB / 20)
    mix, near, spoken = scene["mix"].astype(np.float64), scene["near"].astype(np.float64), scene["spoken"]
    count = LATER_S * rate
    later = dict(mix=np.concatenate([hiss(count), mix]), near=np.concatenate([np.zeros(count), near]))
    first = np.flatnonzero(spoken)[0]
    ends = first + np.flatnonzero(~spoken[first:])[0]
    count = int((ends / 100 + AFTER_S) * rate)
    after = np.concatenate([near[:count] + hiss(count), mix[count:]])
    given = {
        "as laid out": dict(mix=mix, near=near, spoken=spoken),
        f"everything {LATER_S} s later": later | dict(spoken=np.concatenate([np.zeros(LATER_S * 100, bool), spoken])),
        "background after the first sentence": dict(mix=after, near=near, spoken=spoken),
    }
    return {order: s | dict(mix=s["mix"].astype(np.float32), near=s["near"].astype(np.float32)) for order, s in given.items()}


def telephone(x):
    """300 to 3400 Hz, at 8 kHz."""
    return signal.resample_poly(signal.sosfilt(signal.butter(4, [300, 3400], "bp", fs=RATE_HZ, output="sos"), x), 1, 2)


def mu_law(x):
    code = np.round(np.sign(x) * np.log1p(255 * np.abs(np.clip(x, -1, 1))) / np.log(256) * 127) / 127
    return np.sign(code) * np.expm1(np.abs(code) * np.log(256)) / 255


def fingerprint(folder):
    """The same for the same scenes, whatever versions of the libraries made them: who says what, for how long, and when."""
    digest = hashlib.sha256()
    for scene in json.loads((folder / "meta.json").read_text()):
        found = np.load(folder / f"{scene['name']}.npz")
        edges = np.flatnonzero(np.diff(found["spoken"].astype(np.int8)))
        digest.update(json.dumps([scene, len(found["near"]), edges.tolist()], sort_keys=True).encode())
    return digest.hexdigest()[:12]


def make(work):
    """Each scene has a seed of its own, so that the number of workers changes nothing."""
    sources, seed, index, m, out = work
    scene = Maker(sources, [seed, index]).scene(m["kind"], m["snr"], m["narrow"], m["speaker"])
    np.savez(out / f"{m['name']}.npz", **scene)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("set", choices=["dev", "test"])
    parser.add_argument("--workers", type=int, default=2)
    for name in ("speech", "digits", "prompts", "environment", "music", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sources, meta = Sources(args), []
    speakers = sorted(sources.near)
    print("near", len(speakers), "prompts", [len(f) for f in sources.far], "sounds", sum(map(len, sources.sounds.values())), "music", len(sources.music), flush=True)
    for kind, ratios, each, narrow in PLAN:
        for snr in ratios:
            for _ in range(each if args.set == "test" else max(1, each // 2)):
                name, speaker = f"s{len(meta):03d}", speakers[len(meta) % len(speakers)]
                meta.append(dict(name=name, kind=kind, snr=snr, narrow=narrow, speaker=speaker))
    with ProcessPoolExecutor(args.workers) as pool:
        list(pool.map(make, [(sources, dict(dev=101, test=202)[args.set], i, m, args.out) for i, m in enumerate(meta)], chunksize=1))
    (args.out / "meta.json").write_text(json.dumps(meta, indent=1))
    print("fingerprint", fingerprint(args.out))


if __name__ == "__main__":
    main()
