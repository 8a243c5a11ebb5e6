"""Scenes: a pool of near talkers, background talkers and noises, mixed anew for every step."""

import torch
from torch.nn import functional

from . import rooms, sounds, voices
from .filters import Responses
from .memory import QUIET_ROWS
from .packs import RATE_HZ
from .tracks import FAR_TALKERS, render

ON_HOLD = (0.18, 0.28)
SCALE = 800  # of the pool's 16-bit samples: 32 dB between the active level and clipping
FAST_SIZES = (72_000, 81_000, 96_000, 108_000, 120_000, 135_000, 144_000, 150_000, 160_000)
# Of background talkers: rooms, and how they are drawn.
FAR_KINDS = dict(far=0.44, close=0.26, television=0.30)
CLOSE_SOFTER_DB = (2, 8)  # a stranger at arm's length and a caller at a speakerphone differ in nothing else


def active_level(x):
    power = x[:, : x.shape[1] // 160 * 160].unflatten(1, (-1, 160)).pow(2).mean(-1)
    loud = power > power.amax(1, keepdim=True) * 1e-3
    return ((power * loud).sum(1) / loud.sum(1).clamp_min(1) + 1e-12).sqrt()


def levelled(x):
    return x / active_level(x)[:, None].clamp_min(1e-6)


class Mixer:
    def __init__(self, corpus, seconds, rng, device, room_count=1000):
        self.device, self.samples = device, int(seconds * RATE_HZ)
        size = next(size for size in FAST_SIZES if size >= self.samples + rooms.LENGTH)
        self.responses = Responses(size, device)
        self.data = torch.from_numpy(corpus.samples).to(device)
        self.near_rooms = rooms.bank(room_count // 2, "near", rng, device)
        self.mid_rooms = rooms.bank(room_count // 4, "mid", rng, device)
        self.far_rooms = {kind: rooms.bank(int(room_count * share), kind, rng, device) for kind, share in FAR_KINDS.items()}
        self.dry = torch.zeros(rooms.LENGTH, device=device)
        self.dry[rooms.DIRECT] = 1

    def uniform(self, low, high, count):
        return low + (high - low) * torch.rand(count, device=self.device)

    def convolve(self, x, room, response):
        size = self.responses.size
        spectrum = torch.fft.rfft(x, n=size) * torch.fft.rfft(room, n=size) * response
        return torch.fft.irfft(spectrum, n=size)[:, : self.samples]

    def pick(self, bank, count):
        return bank[torch.randint(0, len(bank), (count,), device=self.device)]

    def near(self, tracks):
        count = len(tracks)
        x = voices.other_heads(render(tracks, self.data, self.samples))
        u = torch.rand(count, device=self.device)[:, None]
        room = torch.where(u < 0.78, self.pick(self.near_rooms, count), self.pick(self.mid_rooms, count))
        room = torch.where(u < 0.28, self.dry, room)
        return levelled(self.convolve(x, room, self.responses.equaliser(count, 2.0)))

    def far(self, tracks, gains):
        """Background talkers: in a far corner, at the next desk, or out of a television."""
        count = len(tracks) * FAR_TALKERS
        x = voices.other_heads(render(tracks.flatten(0, 1), self.data, self.samples))
        u = torch.rand(count, device=self.device)
        far, close = FAR_KINDS["far"], FAR_KINDS["far"] + FAR_KINDS["close"]
        is_television = u >= close
        room = torch.where((u < far)[:, None], self.pick(self.far_rooms["far"], count), self.pick(self.far_rooms["close"], count))
        room = torch.where(is_television[:, None], self.pick(self.far_rooms["television"], count), room)
        v = torch.rand(count, device=self.device)
        dull = (v < 0.55) & ~is_television & (u < far)
        corner = torch.where(dull, self.uniform(2000, 7000, count), torch.full_like(v, 20_000))
        banded = is_television & (v < 0.8)
        corner = torch.where(banded, self.uniform(2800, 7500, count), corner)
        bottom = torch.where(banded, self.uniform(100, 450, count), torch.zeros_like(v))
        order = torch.randint(1, 3, (count,), device=self.device).float()
        # Out of a telephone or a recording of one.
        is_recorded = v > 0.9
        corner = torch.where(is_recorded, self.uniform(3200, 4000, count), corner)
        order = torch.where(is_recorded, torch.full_like(v, 50.0), order)
        response = self.responses.low_pass(corner, order) * self.responses.high_pass(bottom)
        x = self.convolve(self.squeezed(x, is_television), room, response)
        mixed = (levelled(x).unflatten(0, (-1, FAR_TALKERS)) * gains.to(self.device)[..., None]).sum(1)
        first = u.unflatten(0, (-1, FAR_TALKERS))[:, 0]
        softer = torch.where((first >= far) & (first < close), self.uniform(*CLOSE_SOFTER_DB, len(tracks)), torch.zeros_like(first))
        return levelled(mixed) * 10 ** (-softer / 20)[:, None]

    def squeezed(self, x, chosen):
        """Broadcast sound is compressed: quiet and loud parts are nearly alike."""
        frames = x.unflatten(1, (-1, 160)).pow(2).mean(-1)[:, None]
        level = functional.interpolate(functional.avg_pool1d(frames, 11, 1, 5), size=self.samples)[:, 0].sqrt()
        loud = level.amax(1, keepdim=True).clamp_min(1e-6)
        gain = (level / loud).clamp_min(0.03) ** -0.5
        half = torch.rand(len(x), device=self.device) < 0.6
        return torch.where((chosen & half)[:, None], x * gain, x)

    def noise(self, tracks, kinds):
        count = len(tracks)
        x = render(tracks, self.data, self.samples)
        in_room = torch.rand(count, device=self.device)[:, None] < 0.4
        room = torch.where(in_room, self.pick(self.far_rooms["far"], count), self.dry)
        x = levelled(self.convolve(x, room, self.responses.equaliser(count, 4.0)))
        made = kinds.nonzero()[:, 0]
        if len(made):
            x[made.to(self.device)] = levelled(self.made_noise(kinds[made].to(self.device)))
        # Seldom is there one thing alone to be heard.
        other = x.roll(1, 0) * 10 ** (self.uniform(-15, 3, count)[:, None] / 20)
        return levelled(torch.where(torch.rand(count, 1, device=self.device) < 0.3, x + other, x))

    def hold(self, tracks):
        """Music out of the line itself; seldom out of a room."""
        count = len(tracks)
        in_room = torch.rand(count, device=self.device)[:, None] < 0.2
        room = torch.where(in_room, self.pick(self.far_rooms["television"], count), self.dry)
        # Much music is dark: nearly all of it lies below 1 kHz.
        is_dark = torch.rand(count, device=self.device) < 0.4
        corner = torch.where(is_dark, torch.exp(self.uniform(5.3, 7.6, count)), torch.full((count,), 20_000.0, device=self.device))
        response = self.responses.equaliser(count, 4.0) * self.responses.low_pass(corner, self.uniform(0.5, 2.0, count))
        return levelled(self.convolve(render(tracks, self.data, self.samples), room, response))

    def made_noise(self, kinds):
        """1 coloured, 2 coming and going, 3 hum and beeps, 4 clicks and knocks, 5 machines, 6 to 9 as in `sounds.py`."""
        count, n = len(kinds), self.samples
        size, hz = self.responses.size, self.responses.hz
        white = torch.randn(count, len(hz), device=self.device, dtype=torch.complex64)
        tilt = self.uniform(-0.2, 2.2, count)[:, None]
        shape = (hz.clamp_min(40) / 1000)[None] ** (-tilt / 2) * self.responses.equaliser(count, 5.0)
        is_plain = torch.rand(count, 1, device=self.device) < 0.2
        shape = torch.where(is_plain, torch.ones_like(shape), shape)
        coloured = levelled(torch.fft.irfft(white * shape, n=size)[:, :n])
        slow = functional.interpolate(torch.randn(count, 1, 24, device=self.device), size=n, mode="linear")[:, 0]
        gusts = coloured * 10 ** (slow * self.uniform(2, 10, count)[:, None] / 20)
        time = torch.arange(n, device=self.device) / RATE_HZ
        hum = torch.zeros(count, n, device=self.device)
        base = torch.exp(self.uniform(4.0, 7.2, count))[:, None] * 2 ** (slow * self.uniform(0, 0.25, count)[:, None])
        phase = torch.cumsum(base, 1) * (2 * torch.pi / RATE_HZ)
        for k in range(1, 9):
            hum += torch.sin(phase * k) * (torch.randn(count, 1, device=self.device) / k) * ((base * k) < 7000)
        beeping = torch.rand(count, 1, device=self.device) < 0.4
        on = torch.sin(2 * torch.pi * time * self.uniform(0.4, 4, count)[:, None]) > 0
        hum = levelled(hum * torch.where(beeping, on, torch.ones_like(on))) + 0.1 * coloured
        rate = self.uniform(1.0, 9.0, count)[:, None]
        hits = (torch.rand(count, n, device=self.device) < rate / RATE_HZ) * torch.randn(count, n, device=self.device)
        ring_s = torch.exp(self.uniform(-6.0, -2.5, count))[:, None]
        ring = torch.randn(count, rooms.LENGTH, device=self.device) * torch.exp(-time[: rooms.LENGTH] / ring_s)
        clicks = self.convolve(hits, ring, self.responses.equaliser(count, 6.0))
        # A machine: a hum of many partials and a noise that pulses with it, up to 60 times a second.
        turns = torch.cumsum(torch.exp(self.uniform(1.0, 4.1, count))[:, None] * 2 ** (slow * 0.04), 1) * (2 * torch.pi / RATE_HZ)
        depth, sharp = self.uniform(0, 1, count)[:, None], torch.exp(self.uniform(-0.5, 1.5, count))[:, None]
        pulsing = coloured * (1 - depth + depth * (0.5 + 0.5 * torch.sin(turns)) ** sharp)
        comb = torch.zeros_like(hum)
        for partial in range(1, 25):
            strength = torch.rand(count, 1, device=self.device) * partial**-0.7 * ((base * partial) < 7000)
            comb += torch.sin(phase * partial + 6.28 * torch.rand(count, 1, device=self.device)) * strength
        machine = levelled(pulsing) + levelled(comb) * 10 ** (self.uniform(-20, 0, count)[:, None] / 20)
        made = [coloured, gusts, hum, clicks, machine]
        made += [sounds.calls(self, coloured), sounds.impacts(self, count), sounds.bursts(self, coloured), sounds.drops(self, count)]
        return sum(sound * (kinds == kind)[:, None] for kind, sound in enumerate(made, 1))


class Pool:
    """Tracks that stay on the device and are renewed a few at a time."""

    def __init__(self, mixer, plans, size):
        self.mixer, self.plans, self.size = mixer, plans, size
        self.near, self.far, self.noise, self.hold = (
            torch.zeros(size, mixer.samples, dtype=torch.int16, device=mixer.device) for _ in range(4)
        )
        self.at = 0

    @torch.no_grad()
    def renew(self):
        tracks, far_gains, noise_kinds = next(self.plans)
        parts = (
            self.mixer.near(tracks[:, 0]),
            self.mixer.far(tracks[:, 1:-2], far_gains),
            self.mixer.noise(tracks[:, -2], noise_kinds),
            self.mixer.hold(tracks[:, -1]),
        )
        count = min(len(tracks), self.size - self.at)
        for pool, part in zip((self.near, self.far, self.noise, self.hold), parts):
            pool[self.at : self.at + count] = (part[:count] * SCALE).clamp(-32767, 32767).to(torch.int16)
        self.at = (self.at + count) % self.size

    def draw(self, which, count):
        index = torch.randint(0, self.size, (count,), device=self.mixer.device)
        return which[index].float() / SCALE


def automatic_gain(mixer, x):
    """Brings whatever is heard to one level, as headsets and browsers do: at once down, by some decibels a second up."""
    count = len(x)
    level = 10 * torch.log10(functional.avg_pool1d(x.pow(2)[:, None], 320, 320)[:, 0] + 1e-10)
    ramp = torch.arange(level.shape[1], device=x.device) * (mixer.uniform(3, 15, count)[:, None] * 320 / RATE_HZ)
    held = torch.cummax(functional.pad(level[:, :-1], (1, 0), value=-30.0) + ramp, 1)[0] - ramp
    gain = (mixer.uniform(-20, -12, count)[:, None] - held).clamp(-10, 20)
    return 10 ** (functional.interpolate(gain[:, None], size=x.shape[1], mode="linear", align_corners=True)[:, 0] / 20)


def turns(mixer, count):
    """Until some time, and from then on: gains of two things of which one follows the other."""
    time = torch.arange(mixer.samples, device=mixer.device) / RATE_HZ
    change = mixer.uniform(0.2, 0.8, count)[:, None] * (mixer.samples / RATE_HZ)
    pause, fade = mixer.uniform(0.0, 0.4, count)[:, None], mixer.uniform(0.03, 0.5, count)[:, None]
    return ((change - time) / fade).clamp(0, 1), ((time - change - pause) / 0.03).clamp(0, 1)


@torch.no_grad()
def scenes(pool, count, kinds=None):
    """`kinds`, from 0 to 1, say what is heard in each. Mixture, near talker as it reaches the microphone, its level, where it is narrow band, first peak, where music on hold is heard."""
    mixer, responses, device = pool.mixer, pool.mixer.responses, pool.mixer.device
    near, far, noise = pool.draw(pool.near, count), pool.draw(pool.far, count), pool.draw(pool.noise, count)
    chance = lambda p: torch.rand(count, device=device) < p
    uniform = lambda low, high: mixer.uniform(low, high, count)
    u = torch.rand(count, device=device) if kinds is None else kinds
    among = lambda low, high: (u >= low) & (u < high)
    # Without a near talker (14 %), noise alone (4 %), on hold (10 %), then 9 % clean, 27 % talkers, 18 % noise, 18 % both.
    nobody, noise_alone, holds, both = u < 0.14, among(0.14, 0.18), among(*ON_HOLD), u >= 0.82
    # Some are taken off hold, or put on hold after they have spoken: one of the two is heard at a time.
    in_turn = holds & chance(0.4)
    absent = nobody | noise_alone | (holds & ~in_turn)
    talks = among(0.37, 0.64) | both | (nobody & chance(0.85))
    noisy = (u >= 0.64) | noise_alone | (nobody & chance(0.4))
    if kinds is None:
        # Minutes of a quiet line are heard in memory.py: hiss, the room, or not a bit.
        is_quiet = torch.arange(count, device=device) < QUIET_ROWS
        absent, holds, talks = absent | is_quiet, holds & ~is_quiet, talks & ~is_quiet
        in_turn, noisy = in_turn & ~is_quiet, torch.where(is_quiet, chance(0.35), noisy)
    level_db = uniform(-37, -15)
    level = 10 ** (level_db / 20)
    sir = torch.where(chance(0.25), uniform(-3, 7), uniform(4, 24))
    # Alone, a stranger as loud as a caller is one as far as anyone can tell.
    sir = torch.where(nobody, uniform(6, 30), sir)
    snr = torch.where(both, uniform(3, 25), uniform(-5, 20))
    snr = torch.where(noise_alone, uniform(-10, 12), snr)
    if kinds is None:
        snr = torch.where(is_quiet, uniform(8, 40), snr)
    hiss = torch.randn_like(near) * (10 ** (uniform(-108, -64) / 20))[:, None]
    first, second = turns(mixer, count)
    swapped = chance(0.5)[:, None]
    speaks, plays = torch.where(swapped, second, first), torch.where(swapped, first, second)
    near = near * torch.where(in_turn[:, None], speaks, (~absent)[:, None].float()) * level[:, None]
    music = pool.draw(pool.hold, count) * (level * 10 ** (uniform(-10, 12) / 20) * holds)[:, None]
    # A machine that is switched on or off.
    switched = noise_alone & chance(0.4)
    noise = noise * torch.where(switched[:, None], speaks, torch.ones_like(speaks))
    rest = far * (level * 10 ** (-sir / 20) * talks)[:, None] + noise * (level * 10 ** (-snr / 20) * noisy)[:, None]
    rest = rest + torch.where(in_turn[:, None], music * plays, music)

    narrow = chance(0.38) | (holds & chance(0.4)) | (talks & chance(0.15))
    corner = torch.where(chance(0.15), uniform(3400, 7800), torch.full_like(u, 20_000))
    line = responses.equaliser(count, 2.5) * responses.low_pass(corner, torch.full_like(u, 6.0))
    wide_telephone = responses.below_4k
    telephone = torch.where(chance(0.7)[:, None], responses.telephone, wide_telephone)
    line = line * torch.where(narrow[:, None], telephone, torch.ones_like(telephone))
    filtered = responses.apply(torch.cat([near, rest + hiss]), torch.cat([line, line]))
    near, rest = filtered[:count], filtered[count:]

    mix = near + rest
    peak = mix.abs().amax(1)
    gain = torch.where(peak > 0.97, 0.97 / peak.clamp_min(1e-6), torch.ones_like(peak))
    gain = torch.where(chance(0.04), gain * 2.5, gain)
    drift = torch.cumsum(torch.randn(count, 1, 9, device=device) * 2.0, -1)
    drift = (drift - drift.mean(-1, keepdim=True)).clamp(-7, 7)
    drift = 10 ** (functional.interpolate(drift, size=mixer.samples, mode="linear", align_corners=True)[:, 0] / 20)
    gains = torch.where(chance(0.2)[:, None], drift, torch.ones_like(drift)) * gain[:, None]
    gains = gains * torch.where(chance(0.12)[:, None], automatic_gain(mixer, mix * gains), torch.ones_like(gains))
    mix, near = (mix * gains).clamp(-1, 1), near * gains
    mix = torch.where(narrow[:, None], responses.telephone_line(mix, chance(0.7)), mix)
    # 16 bits, as everywhere: a quiet line is exactly silent.
    mix = torch.round(mix * 32_768) / 32_768

    heard = active_level(near)
    present = ~absent & (heard > level * gain * 0.05)
    reference = torch.where(present, heard, level * gain).clamp_min(1e-4)
    late = level_db + 44 + uniform(-4, 5) + 20 * torch.log10(gain)
    first_peak = torch.where(chance(0.65), torch.full_like(u, -20.0), late)
    return mix, near, reference, narrow, first_peak, holds


class Ahead:
    """Mixes the scenes of the next step beside the work on this one: a recurrent layer leaves most of a GPU idle."""

    RENEWED_EVERY = 8

    def __init__(self, pool, count):
        self.pool, self.count, self.step = pool, count, 0
        self.beside = torch.cuda.Stream() if pool.mixer.device == "cuda" else None
        if self.beside:
            self.beside.wait_stream(torch.cuda.current_stream())
        self.prepared = self.prepare()

    def mix(self):
        if self.step % self.RENEWED_EVERY == 0:
            self.pool.renew()
        self.step += 1
        return scenes(self.pool, self.count)

    def prepare(self):
        if not self.beside:
            return self.mix(), None
        with torch.cuda.stream(self.beside):
            return self.mix(), self.beside.record_event()

    def next(self):
        batch, done = self.prepared
        if done:
            here = torch.cuda.current_stream()
            here.wait_event(done)
            for part in batch:
                part.record_stream(here)
        self.prepared = self.prepare()
        return batch
