"""Makes the packs that are not taken as they are: environmental sounds, two packs of voices, and wide-band speech for `pro`.

python -m viva.prepare e10 ESC-50 packs
python -m viva.prepare gs _background_noise_ packs
python -m viva.prepare ka dataset-voice-kathleen/data packs
python -m viva.prepare ar arabic-speech-commands-dataset/dataset packs
python -m viva.prepare wide AudioMNIST/data dataset-voice-kerstin/verified ESC-50 wide
"""

import csv
import pathlib
import sys

import numpy as np
import soundfile
from scipy import signal

# Speakers and folds that nothing is trained on.
HELD_OUT_DIGITS = ("05", "12", "23", "34", "45", "56")
TRAINING_FOLDS = "123"
# Of Speech Commands' background noises: its two made ones are made anew for every scene, its imitated cat is a voice.
HOUSEHOLD = ("doing_the_dishes", "exercise_bike", "running_tap")


def read(path, rate_hz):
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    common = np.gcd(rate, rate_hz)
    return signal.resample_poly(samples.mean(1), rate_hz // common, rate // common).astype(np.float32)


def spoken(x, rate_hz):
    """Without the silence around it, at -26 dBFS; nothing when it is too noisy."""
    hop = rate_hz // 100
    x = signal.sosfilt(signal.butter(2, 60, "hp", fs=rate_hz, output="sos"), x).astype(np.float32)
    levels = 10 * np.log10((x[: len(x) // hop * hop].reshape(-1, hop) ** 2).mean(1) + 1e-10)
    loudest = np.percentile(levels, 98)
    active = np.flatnonzero(levels > loudest - 35)
    level = 10 * np.log10((10 ** (levels[levels > loudest - 25] / 10)).mean())
    if len(active) < 20 or level - np.percentile(levels, 4) < 24:
        return np.zeros(0, np.float32)
    x = x[max(0, active[0] - 5) * hop : (active[-1] + 10) * hop] * 10 ** ((-26 - level) / 20)
    return x / max(1, np.abs(x).max() / 0.99)


def environmental(folder):
    """Clips of ESC-10 (CC BY) alone: ESC-50 as a whole is not for commercial use."""
    rows = csv.DictReader(open(pathlib.Path(folder) / "meta/esc50.csv"))
    chosen = [row for row in rows if row["esc10"] == "True" and row["fold"] in TRAINING_FOLDS]
    return [pathlib.Path(folder) / "audio" / row["filename"] for row in chosen]


def sound(path, rate_hz):
    x = read(path, rate_hz)
    heard = np.flatnonzero(np.abs(x) > 2e-4)
    return x[heard[0] : heard[-1] + 1] / (np.abs(x).max() + 1e-9) * 0.7 if len(heard) else x[:0]


def write(path, parts, rate_hz, quality):
    samples = np.concatenate(parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate_hz, format="OGG", subtype="OPUS", compression_level=quality)
    print(path, round(len(samples) / rate_hz / 60, 1), "min", path.stat().st_size, "bytes")


def sentences(folder):
    """Every third sentence of one speaker."""
    return sorted(pathlib.Path(folder).glob("*.wav"))[::3]


def commands(folder):
    """Four of ten recordings of every word, one speaker after another."""
    files = [f for f in pathlib.Path(folder).glob("*/*.wav") if int(f.stem.split("_")[-1]) <= 4 and "zoom" not in f.parent.name]
    return sorted(files, key=lambda f: (f.name.split("_")[0], f.stem.split("_")[-1], f.parent.name))


def narrow(pack, source):
    """Parts of a 16 kHz pack, and the quality it is kept at."""
    if pack == "e10":
        return [sound(path, 16_000) for path in environmental(source)], 0.9
    if pack == "gs":
        return [sound(pathlib.Path(source) / f"{name}.wav", 16_000) for name in HOUSEHOLD], 0.9
    files = {"ka": sentences, "ar": commands}[pack](source)
    return [spoken(read(path, 16_000), 16_000) for path in files], 0.94


def main():
    if sys.argv[1] != "wide":
        pack, source, out = sys.argv[1:]
        parts, quality = narrow(pack, source)
        write(pathlib.Path(out) / f"{pack}.00.opus", parts, 16_000, quality)
        return
    digits, voice, environment, out = sys.argv[2:]
    speakers = [s for s in sorted(pathlib.Path(digits).iterdir()) if s.name.isdigit() and s.name not in HELD_OUT_DIGITS]
    files = [f for s in speakers for f in sorted(s.glob("*.wav")) if int(f.stem.split("_")[-1]) < 4]
    write(pathlib.Path(out) / "am.00.opus", [spoken(read(f, 48_000), 48_000) for f in files], 48_000, 0.85)
    files = sorted(pathlib.Path(voice).glob("*.flac"))[2::8]
    write(pathlib.Path(out) / "ke.00.opus", [spoken(read(f, 48_000), 48_000)[: 8 * 48_000] for f in files], 48_000, 0.85)
    parts = [sound(path, 48_000)[: 4 * 48_000] for path in environmental(environment)]
    write(pathlib.Path(out) / "e10.00.opus", parts, 48_000, 0.85)


if __name__ == "__main__":
    main()
