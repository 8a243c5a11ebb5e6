"""Music such as is played to people on hold: pieces composed at random, and free ones, through a General MIDI soundfont.

python -m viva.compose hold FluidR3_GM.sf2 packs --pieces 90
python -m viva.compose fd FluidR3_GM.sf2 packs --midi freedoom/musics
python -m viva.compose syn - packs --pieces 240 --seed 70
python -m viva.compose pop - packs --pieces 240 --seed 170 --rich
"""

import argparse
import os
import pathlib
import struct
import subprocess
import tempfile

import numpy as np
import soundfile
from scipy import signal

RATE_HZ = 16_000
RENDERED_HZ = 16_000
TICKS = 96
DRUMS = 9
SCALES = ([0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10], [0, 2, 3, 5, 7, 9, 10], [0, 2, 4, 5, 7, 9, 10])
PROGRESSIONS = ([0, 4, 5, 3], [0, 5, 3, 4], [1, 4, 0, 0], [0, 3, 0, 4], [5, 3, 0, 4], [0, 2, 3, 4], [0, 0, 3, 3], [0, 6, 3, 4])
# General MIDI programs of a style: what plays chords, melody and bass; beats a minute; whether there are drums.
STYLES = dict(
    lounge=dict(chords=[24, 25, 4, 5, 0], lead=[66, 11, 56, 73, 26, 71], bass=[32, 33], beats=(80, 125), drums=0.7),
    electronic=dict(chords=[81, 90, 88, 62, 38], lead=[80, 81, 84, 87, 98, 85], bass=[38, 39], beats=(85, 140), drums=0.9),
    ambient=dict(chords=[88, 89, 91, 94, 95, 52], lead=[98, 14, 92, 100, 53, 75], bass=[39, 43], beats=(55, 80), drums=0.2),
    classical=dict(chords=[48, 0, 46, 6, 19], lead=[40, 73, 68, 42, 71, 60], bass=[42, 43], beats=(60, 130), drums=0.0),
    rock=dict(chords=[29, 30, 27, 16], lead=[29, 30, 18, 27], bass=[33, 34], beats=(90, 150), drums=1.0),
    jazz=dict(chords=[0, 4, 26, 11], lead=[65, 66, 56, 59, 57], bass=[32], beats=(90, 180), drums=0.8),
    voices=dict(chords=[52, 53, 54, 48], lead=[52, 53, 54, 85, 91], bass=[32, 43], beats=(55, 110), drums=0.4),
)

# Long tones and few instruments: what a network takes for a voice soonest.
CALM = ["ambient", "classical", "voices", "lounge"]


class Track:
    """Events of one piece, in ticks."""

    def __init__(self):
        self.events = []

    def add(self, tick, *data):
        self.events.append((int(tick), bytes(data)))

    def note(self, tick, length, channel, pitch, velocity):
        pitch, velocity = int(np.clip(pitch, 12, 115)), int(np.clip(velocity, 1, 127))
        self.add(tick, 0x90 | channel, pitch, velocity)
        self.add(tick + max(1, length), 0x80 | channel, pitch, 0)

    def bend(self, tick, channel, share):
        value = int(np.clip(8192 + 8191 * share, 0, 16383))
        self.add(tick, 0xE0 | channel, value & 127, value >> 7)

    def file(self, beats_a_minute):
        body, now = bytearray(b"\0\xff\x51\x03" + int(60e6 / beats_a_minute).to_bytes(3, "big")), 0
        for tick, data in sorted(self.events, key=lambda e: (e[0], e[1][0] & 0xF0 == 0x90)):
            body += variable(tick - now) + data
            now = tick
        body += b"\0\xff\x2f\0"
        return b"MThd" + struct.pack(">IHHH", 6, 0, 1, TICKS) + b"MTrk" + struct.pack(">I", len(body)) + bytes(body)


def variable(value):
    out = [value & 127]
    while value := value >> 7:
        out.append(value & 127 | 128)
    return bytes(reversed(out))


class Piece:
    def __init__(self, rng, seconds, calm=False):
        self.rng, self.track = rng, Track()
        names = CALM if calm else list(STYLES)
        self.style = STYLES[names[int(rng.integers(len(names)))]]
        self.beats = rng.uniform(*self.style["beats"]) * (0.7 if calm else 1)
        self.bars = max(4, int(seconds * self.beats / 240))
        self.scale = SCALES[int(rng.integers(len(SCALES)))]
        self.key = int(rng.integers(-5, 7))
        self.progression = PROGRESSIONS[int(rng.integers(len(PROGRESSIONS)))]
        self.swing = TICKS // 12 if rng.random() < 0.3 else 0
        # A tune alone is what is most like a voice.
        alone = rng.random() < (0.3 if calm else 0.15)
        for channel, part in enumerate(("chords", "lead", "bass", "chords")):
            self.track.add(0, 0xC0 | channel, int(rng.choice(self.style[part])))
            self.track.add(0, 0xB0 | channel, 91, int(rng.integers(0, 100)))
        self.track.add(0, 0xC0 | DRUMS, int(rng.choice([0, 8, 16, 24, 25, 40])))
        if not alone:
            self.chords(0)
            if rng.random() < 0.35:
                self.chords(3)
            if rng.random() < 0.8:
                self.bass()
            if rng.random() < self.style["drums"] * (0.2 if calm else 1):
                self.drums()
        if alone or rng.random() < 0.8:
            self.lead()

    def degree(self, step, octave):
        return 60 + self.key + 12 * (octave + step // 7) + self.scale[step % 7]

    def heard(self, share):
        """Which bars a part plays in: it comes and goes in groups of four."""
        groups = self.rng.random(self.bars // 4 + 1) < share
        groups[int(self.rng.integers(len(groups)))] = True
        return [bar for bar in range(self.bars) if groups[bar // 4]]

    def chords(self, channel):
        rng = self.rng
        pattern = int(rng.integers(4))
        notes = 3 + int(rng.random() < 0.4)
        order = rng.permutation(8) % notes
        octave, loud, spread = int(rng.integers(-1, 1)), rng.integers(50, 95), rng.integers(0, 6)
        for bar in self.heard(0.85):
            root = self.progression[bar % 4]
            pitches = [self.degree(root + 2 * k, octave) for k in range(notes)]
            start = bar * 4 * TICKS
            if pattern == 0:
                hits = [(0, 4)]
            elif pattern == 1:
                hits = [(0, 1), (1.5, 0.5), (2.5, 1)] if rng.random() < 0.8 else [(0, 2), (2, 2)]
            elif pattern == 2:
                hits = [(beat + 0.5, 0.4) for beat in range(4)]
            else:
                hits = []
                for k in range(8):
                    self.track.note(start + k * TICKS // 2 + (k % 2) * self.swing, TICKS // 2, channel, pitches[order[k]], loud + rng.normal(0, 6))
            for beat, length in hits:
                for k, pitch in enumerate(pitches):
                    self.track.note(start + beat * TICKS + k * spread, length * TICKS - 4, channel, pitch, loud + rng.normal(0, 5))

    def bass(self):
        rng = self.rng
        walking, loud = rng.random() < 0.4, rng.integers(70, 110)
        rhythm = [[0, 2], [0, 1.5, 2, 3.5], [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5], [0, 1, 2, 3]][int(rng.integers(4))]
        for bar in self.heard(0.85):
            root = self.progression[bar % 4]
            for k, beat in enumerate([0, 1, 2, 3] if walking else rhythm):
                step = root + (int(rng.choice([0, 2, 4, 6, 1])) if walking and k else 0)
                self.track.note((bar * 4 + beat) * TICKS, 0.45 * TICKS, 2, self.degree(step, -3 if root > 3 else -2), loud + rng.normal(0, 6))

    def drums(self):
        rng = self.rng
        kick = [[0, 2], [0, 1, 2, 3], [0, 1.5, 2.5], [0, 2.5]][int(rng.integers(4))]
        snare = [[1, 3], [2], [1, 3, 3.75]][int(rng.integers(3))]
        hat = np.arange(0, 4, [0.25, 0.5, 1][int(rng.integers(3))])
        loud, ride = rng.integers(60, 110), int(rng.choice([42, 44, 51, 70, 82]))
        for bar in self.heard(0.8):
            start = bar * 4 * TICKS
            for beats, pitch, gain in ((kick, 36, 0), (snare, int(rng.choice([38, 37, 39, 40])), -5), (hat, ride, -25)):
                for beat in beats:
                    if rng.random() < 0.95:
                        late = self.swing if beat % 1 == 0.5 else 0
                        self.track.note(start + beat * TICKS + late, TICKS // 4, DRUMS, pitch, loud + gain + rng.normal(0, 7))
            if bar % 4 == 3 and rng.random() < 0.5:
                for k in range(4):
                    self.track.note(start + (3 + k / 4) * TICKS, TICKS // 4, DRUMS, int(rng.choice([41, 45, 47, 50, 38])), loud)

    def lead(self):
        """A motif that returns, higher or lower, changed a little; slides and vibrato as players do them."""
        rng = self.rng
        octave, loud = int(rng.integers(-1, 2)), rng.integers(65, 110)
        slides, vibrato, legato = rng.random() < 0.45, int(rng.integers(0, 90)), rng.uniform(0.5, 1.05)
        step, motif, beat = int(rng.integers(0, 7)), [], 0.0
        while beat < 8:
            length = float(rng.choice([0.25, 0.5, 0.5, 0.75, 1, 1, 1.5, 2, 3]))
            motif.append((beat, length, step, rng.random() < 0.78))
            beat += length
            step = int(np.clip(step + rng.choice([-3, -2, -1, -1, 0, 1, 1, 2, 4]), -3, 11))
        bars = self.heard(0.75)
        for bar in bars[:: 2 if len(bars) > 1 else 1]:
            shift = self.progression[bar % 4] if rng.random() < 0.5 else 0
            for beat, length, step, sounds in motif:
                if not sounds or rng.random() < 0.08 or bar * 4 + beat >= self.bars * 4:
                    continue
                start = (bar * 4 + beat) * TICKS
                if slides:
                    for k in range(5):
                        self.track.bend(start + k * TICKS // 16, 1, rng.uniform(-0.5, 0.2) * (1 - k / 4))
                self.track.add(start + TICKS // 8, 0xB1, 1, vibrato)
                self.track.note(start, length * TICKS * legato, 1, self.degree(step + shift, octave), loud + rng.normal(0, 9))


def render(data, soundfont, gain=0.6):
    """A MIDI file's bytes -> samples at 16 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        song, sound = os.path.join(folder, "song.mid"), os.path.join(folder, "song.wav")
        pathlib.Path(song).write_bytes(data)
        options = ["-n", "-i", "-q", "-g", str(gain), "-r", str(RENDERED_HZ), "-F", sound, str(soundfont), song]
        subprocess.run(["fluidsynth", *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        samples, rate = soundfile.read(sound, dtype="float32", always_2d=True)
    return signal.resample_poly(samples.mean(1), 1, rate // RATE_HZ).astype(np.float32)


def notes_of(track, beats_a_minute):
    """Notes of a piece: channel, start and length in seconds, hertz, loudness; drums by their key."""
    second, open_notes, notes = 60 / beats_a_minute / TICKS, {}, []
    for tick, data in sorted(track.events, key=lambda e: (e[0], e[1][0] & 0xF0 == 0x90)):
        kind, channel = data[0] & 0xF0, data[0] & 15
        if kind == 0x90:
            open_notes[channel, data[1]] = (tick, data[2])
        elif kind == 0x80 and (channel, data[1]) in open_notes:
            start, velocity = open_notes.pop((channel, data[1]))
            notes.append((channel, start * second, max(0.03, (tick - start) * second), data[1], (velocity / 110) ** 1.5))
    return notes


class Voice:
    """One synthesised instrument: partials or two oscillators, an envelope, a filter that closes, vibrato, slides."""

    def __init__(self, rng):
        self.rng, self.kind = rng, str(rng.choice(["saw", "square", "partials", "fm", "pluck", "breath"]))
        self.attack = float(np.exp(rng.uniform(np.log(0.003), np.log(0.4))))
        self.decay = float(np.exp(rng.uniform(np.log(0.15), np.log(3))))
        self.held, self.release = rng.uniform(0, 1), rng.uniform(0.03, 0.6)
        self.detune, self.tilt = rng.uniform(0, 0.012), rng.uniform(0.3, 2.0)
        self.vibrato, self.rate, self.slide = rng.uniform(0, 0.012) * (rng.random() < 0.6), rng.uniform(4, 7), rng.uniform(-1.5, 1.5) * (rng.random() < 0.3)
        self.ratio, self.index = float(rng.choice([0.5, 1, 1.41, 2, 3, 3.5, 7])), rng.uniform(0.5, 6)
        self.formants = np.sort(rng.uniform([250, 700, 1800], [900, 2400, 3500])) if rng.random() < 0.35 else None
        self.strength = rng.uniform(0, 1, 30)
        self.moved = None

    def enrich(self):
        """Vowels that change within a note, as a choir's, a talk box's or a filter's."""
        rng = self.rng
        if self.formants is None and rng.random() < 0.25:
            self.formants = np.sort(rng.uniform([250, 700, 1800], [900, 2400, 3500]))
        if self.formants is not None and rng.random() < 0.7:
            self.moved, self.turn = np.sort(rng.uniform([250, 700, 1800], [900, 2400, 3500])), rng.uniform(0.2, 4)

    def resonance(self, hertz, time):
        """How much of one partial passes the formants, at each time where they move."""
        if self.moved is None:
            return sum(1 / (1 + ((hertz - f) / 130) ** 2) for f in self.formants)
        share = 0.5 - 0.5 * np.cos(6.283 * self.turn * time[::80])
        size = sum(1 / (1 + ((hertz - f - (g - f) * share) / 130) ** 2) for f, g in zip(self.formants, self.moved))
        return np.interp(time, time[::80], size)

    def play(self, seconds, hertz):
        rng, count = self.rng, int((seconds + self.release) * RATE_HZ)
        time = np.arange(count) / RATE_HZ
        bend = 2 ** (self.slide / 12 * np.exp(-time / 0.06)) * (1 + self.vibrato * np.sin(6.283 * self.rate * time) * np.minimum(1, time / 0.4))
        phase = np.cumsum(hertz * bend) * (2 * np.pi / RATE_HZ) + rng.uniform(0, 6.28)
        envelope = np.minimum(1, time / self.attack) * (self.held + (1 - self.held) * np.exp(-time / self.decay))
        envelope *= np.clip((seconds + self.release - time) / self.release, 0, 1)
        if self.kind == "fm":
            x = np.sin(phase + self.index * np.exp(-time / self.decay) * np.sin(self.ratio * phase))
            if self.formants is None:
                return x * envelope
        x, brightness = np.zeros(count), 0.5 + 0.5 * np.exp(-time / self.decay)
        for k in range(1, min(30, int(7200 / hertz)) + 1):
            if self.kind == "square" and k % 2 == 0:
                continue
            size = {"partials": self.strength[k - 1] / k, "pluck": 1 / k}.get(self.kind, k**-self.tilt)
            if self.formants is not None:
                size = k**-0.6 * self.resonance(k * hertz, time)
            fade = np.exp(-time * k * 1.3) if self.kind == "pluck" else brightness ** (0.15 * k)
            x += size * fade * np.sin(k * phase)
            if self.detune and k < 12:
                x += 0.7 * size * fade * np.sin(k * (1 + self.detune) * phase)
        if self.kind == "breath":
            x = x / (np.abs(x).max() + 1e-9) + 0.1 * rng.normal(size=count)
        return x / (np.abs(x).max() + 1e-9) * envelope


def drum(key, rng, kit):
    time = np.arange(int(0.35 * RATE_HZ)) / RATE_HZ
    noise = rng.normal(size=len(time))
    if key in (36, 41, 45, 47, 50):
        base = 48 * kit[0] if key == 36 else (80 + 12 * (key - 40)) * kit[0]
        return np.sin(6.283 * np.cumsum(base * (1 + 3 * np.exp(-time / 0.02))) / RATE_HZ) * np.exp(-time / (0.12 * kit[1]))
    if key in (38, 37, 39, 40):
        return (0.6 * noise + 0.5 * np.sin(6.283 * 190 * kit[0] * time)) * np.exp(-time / (0.07 * kit[1])) * 0.7
    return np.diff(noise, prepend=0) * np.exp(-time / (0.025 * kit[1])) * 0.3


def synthesised(track, beats_a_minute, seconds, rng, rich=False):
    """The same piece by instruments made up for it: no soundfont. Where it is rich, now and then by some of them alone."""
    out = np.zeros(int((seconds + 3) * RATE_HZ))
    voices, gains = [Voice(rng) for _ in range(4)], rng.uniform([0.3, 0.5, 0.4, 0.2], [0.8, 1.1, 0.9, 0.7])
    kit, drums = rng.uniform(0.6, 1.6, 2), rng.uniform(0.3, 0.9)
    if rich:
        for voice in voices:
            voice.enrich()
        gains *= rng.random(4) < (0.5 if rng.random() < 0.4 else 1.0)
        gains[int(rng.integers(4))] += 0.5
    for channel, start, length, key, loud in notes_of(track, beats_a_minute):
        if channel == DRUMS:
            x = drum(key, rng, kit) * drums
        else:
            x = voices[channel].play(min(length, 6.0), 440 * 2 ** ((key - 69) / 12)) * gains[channel]
        at = int(start * RATE_HZ)
        x = x[: max(0, len(out) - at)]
        out[at : at + len(x)] += x * loud
    if rng.random() < 0.6:
        tail = rng.normal(size=int(rng.uniform(0.3, 1.6) * RATE_HZ))
        tail *= 10 ** (-3 * np.arange(len(tail)) / len(tail))
        wet = signal.fftconvolve(out, tail / np.linalg.norm(tail))[: len(out)]
        out = out + rng.uniform(0.1, 0.8) * wet
    return out.astype(np.float32)


def swept(x, rng):
    """A resonance that wanders as a wah-wah's or a synthesiser's filter does: vowels, nearly."""
    hop, out = 160, np.zeros_like(x)
    turns, time = rng.uniform(0.3, 4.5), np.arange(len(x) // hop + 1) * hop / RATE_HZ
    centre = np.exp(np.interp(np.sin(6.283 * turns * time + rng.uniform(0, 6)), [-1, 1], np.log([rng.uniform(250, 700), rng.uniform(900, 3500)])))
    width, state = rng.uniform(0.15, 0.6), np.zeros(2)
    for k, start in enumerate(range(0, len(x), hop)):
        b, a = signal.iirpeak(centre[k], 1 / width, fs=RATE_HZ)
        out[start : start + hop], state = signal.lfilter(b, a, x[start : start + hop], zi=state)
    return out


def chopped(x, rng):
    """In a rhythm as quick as syllables."""
    steps = rng.random(16) < rng.uniform(0.4, 0.8)
    steps[int(rng.integers(16))] = True
    now = np.arange(len(x)) / RATE_HZ * rng.uniform(3, 12)
    gate = steps[now.astype(int) % 16] * (1 - rng.uniform(0, 0.9) * (now % 1))
    smooth = np.ones(int(rng.uniform(0.004, 0.04) * RATE_HZ))
    return x * (rng.uniform(0, 0.2) + signal.fftconvolve(gate, smooth / len(smooth), "same"))


def flanged(x, rng):
    """A copy of itself that comes a little later, now more, now less."""
    at = np.arange(len(x))
    late = rng.uniform(0.001, 0.02) * (1 + 0.9 * np.sin(6.283 * rng.uniform(0.1, 3) * at / RATE_HZ)) * RATE_HZ
    return x + rng.uniform(0.4, 0.9) * np.interp(at - late, at, x)


def worn(x, rng):
    """From a worn tape or a small memory: dull, unsteady, coarse."""
    at = np.arange(len(x))
    x = np.interp(at + rng.uniform(0, 40) * np.sin(6.283 * rng.uniform(0.4, 6) * at / RATE_HZ), at, x)
    x = signal.sosfilt(signal.butter(2, rng.uniform(1500, 6000), fs=RATE_HZ, output="sos"), x)
    steps = 2.0 ** rng.uniform(5, 10)
    return np.round(x / (np.abs(x).max() + 1e-9) * steps) / steps + 10 ** rng.uniform(-4, -2) * rng.normal(size=len(x))


def pumped(x, rng):
    """Softer at every beat, as if a drum pushed it away."""
    now = np.arange(len(x)) / RATE_HZ * rng.uniform(1.2, 4)
    return x * (1 - rng.uniform(0.4, 1) * np.exp(-(now % 1) * rng.uniform(1.5, 6)))


EFFECTS = (chopped, flanged, worn, pumped)


def produced(x, rng, rich=False):
    """What a studio adds: sweeps, echo, drive, compression; at one level in the end."""
    if rich:
        for effect in EFFECTS:
            if rng.random() < 0.25:
                x = effect(x, rng)
    x = x / (np.abs(x).max() + 1e-9)
    if rng.random() < 0.25:
        wet = swept(x, rng)
        x = rng.uniform(0, 0.6) * x + wet / (np.abs(wet).max() + 1e-9)
    if rng.random() < 0.3:
        delay, feedback = int(rng.uniform(0.12, 0.5) * RATE_HZ), rng.uniform(0.2, 0.55)
        for k in range(1, 5):
            x[k * delay :] += x[: len(x) - k * delay] * feedback**k * (0.5 if k == 1 else 0.3)
    if rng.random() < 0.25:
        x = np.tanh(x / (np.abs(x).max() + 1e-9) * rng.uniform(2, 8))
    if rng.random() < 0.5:
        level = np.sqrt(signal.sosfilt(signal.butter(1, 6, fs=RATE_HZ, output="sos"), x**2).clip(1e-6))
        x = x / level ** rng.uniform(0.3, 0.8)
    return (x / (np.abs(x).max() + 1e-9) * 0.7).astype(np.float32)


def opening(path, seconds):
    """A MIDI file cut after so many seconds."""
    import mido

    song, now, kept = mido.MidiFile(path, clip=True), 0.0, mido.MidiTrack()
    short = mido.MidiFile(type=0, ticks_per_beat=480)
    short.tracks.append(kept)
    kept.append(mido.MetaMessage("set_tempo", tempo=500_000, time=0))
    before = 0.0
    for message in song:
        now += message.time
        if now > seconds:
            break
        if not message.is_meta and message.type != "sysex":
            kept.append(message.copy(time=round((now - before) * 960)))
            before = before + round((now - before) * 960) / 960
    # Without this the notes that are held would never end.
    for channel in range(16):
        kept.append(mido.Message("control_change", channel=channel, control=120, value=0, time=0))
    with tempfile.NamedTemporaryFile(suffix=".mid") as file:
        short.save(file.name)
        return pathlib.Path(file.name).read_bytes()


def trimmed(x):
    heard = np.flatnonzero(np.abs(x) > 2e-3)
    return x[heard[0] : heard[-1] + 1] if len(heard) else x[:0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pack")
    parser.add_argument("soundfont", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--pieces", type=int, default=90)
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--midi", type=pathlib.Path, help="a folder of MIDI files, in place of pieces composed here")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--calm", action="store_true")
    parser.add_argument("--rich", action="store_true", help="moving vowels, instruments alone, more effects")
    parser.add_argument("--part", type=int, default=0, help="number of the file, where a pack is made in several")
    parser.add_argument("--quality", type=float, default=0.94)
    args = parser.parse_args()
    rng, parts = np.random.default_rng(args.seed), []
    songs = sorted(args.midi.glob("*.mid")) if args.midi else range(args.pieces)
    for song in songs:
        piece = None if args.midi else Piece(rng, args.seconds, args.calm)
        if str(args.soundfont) == "-":
            x = synthesised(piece.track, piece.beats, args.seconds, rng, args.rich)
        else:
            x = render(piece.track.file(piece.beats) if piece else opening(song, args.seconds), args.soundfont)
        x = trimmed(x)[: int(args.seconds * RATE_HZ)]
        if len(x) > 5 * RATE_HZ:
            parts.append(produced(x, rng, args.rich))
            print(song, round(len(x) / RATE_HZ, 1), flush=True)
    samples = np.concatenate(parts)
    path = args.out / f"{args.pack}.{args.part:02d}.opus"
    soundfile.write(path, samples, RATE_HZ, format="OGG", subtype="OPUS", compression_level=args.quality)
    print(path, round(len(samples) / RATE_HZ / 60, 1), "min", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
