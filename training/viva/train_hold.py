"""Trains the listener that tells music on hold from a near talker, on top of a network that stays as it is.

python -m viva.train_hold --packs packs --core out/core.pt --out out --seconds 560
"""

import argparse
import math
import pathlib
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from . import spectrum
from .export import load, round_to_bfloat16
from .mixing import ON_HOLD, Ahead, Mixer, Pool, scenes
from .network import BINS, HOLD_HIDDEN, features
from .packs import Corpus, decode
from .train import RENEWED, Plans

HEARD = 1e-3  # of a scene's loudest power: softer frames are neither music nor speech
SHARE_ON_HOLD = 0.5
# What a frame counts: of the near talker, of its first words, and of all else that is no music on hold.
NEAR, FIRST_WORDS, OTHERS = 2.0, 6.0, 0.15
FIRST_FRAMES, QUIET_FRAMES = 25, 40


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packs", required=True)
    parser.add_argument("--core", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--library", help="libsndfile, where the system has none")
    parser.add_argument("--seconds", type=float, default=560, help="of this run, everything included: the schedule's length too")
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--scene-seconds", type=float, default=8.0)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--pool", type=int, default=6000)
    parser.add_argument("--rooms", type=int, default=600)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--kept-every", type=int, default=2000, help="steps: checkpoints that are kept")
    parser.add_argument("--workers", type=int, default=6)
    return parser.parse_args()


class HoldScenes(Ahead):
    def mix(self):
        if self.step % self.RENEWED_EVERY == 0:
            self.pool.renew()
        self.step += 1
        device = self.pool.mixer.device
        low, high = ON_HOLD
        anywhere = torch.rand(self.count, device=device)
        others = anywhere * (1 - high + low)
        others = torch.where(others < low, others, others + high - low)
        on_hold = torch.rand(self.count, device=device) < SHARE_ON_HOLD
        return scenes(self.pool, self.count, torch.where(on_hold, low + anywhere * (high - low), others))


@torch.no_grad()
def examples(network, analysis, mix, near, reference, narrow, first_peak, holds):
    """What the listener hears, whether each frame is music on hold, and how much it counts."""
    x, s = spectrum.analyse(mix, analysis), spectrum.analyse(near, analysis)
    is_direct = narrow & (torch.rand(len(mix), device=mix.device) < 0.6)
    x = torch.cat([x[..., :129], x[..., 129:] * ~is_direct[:, None, None]], -1)
    power = x.real**2 + x.imag**2
    heard = torch.cat(network.layers(features(power, first_peak)), -1)
    unit = (reference * float(analysis.pow(2).sum().sqrt()) * 0.95)[:, None]
    energy = (s.real**2 + s.imag**2).sum(-1) / unit**2
    active = functional.max_pool1d((energy > BINS * 3.2e-4).float()[:, None], 5, 1, 2)[:, 0]
    beside = functional.max_pool1d(active[:, None], 61, 1, 30)[:, 0] > 0
    total = power.sum(-1)
    music = holds[:, None] & ~beside & (total > total.amax(1, keepdim=True) * HEARD)
    earlier = functional.max_pool1d(functional.pad(active, (FIRST_FRAMES + QUIET_FRAMES, 0))[:, None], QUIET_FRAMES, 1)[:, 0]
    first_words = active * (1 - earlier[:, : active.shape[1]])
    weight = music + NEAR * active + (FIRST_WORDS - NEAR) * first_words + OTHERS * (~holds[:, None] & (active == 0))
    return heard, music.float(), weight


def main():
    started = time.time()
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    corpus = Corpus(decode(args.packs, args.library))
    print("music", len(corpus.music), "talkers", len(corpus.talkers), flush=True)
    mixer = Mixer(corpus, args.scene_seconds, np.random.default_rng(args.seed + 100), device, args.rooms)
    plans = torch.utils.data.DataLoader(
        Plans(corpus, args.scene_seconds, args.seed), batch_size=None, num_workers=args.workers, prefetch_factor=8 if args.workers else None
    )
    pool = Pool(mixer, iter(plans), args.pool)
    for _ in range(math.ceil(args.pool / RENEWED)):
        pool.renew()
    print("pool", round(time.time() - started, 1), "s", flush=True)

    network = round_to_bfloat16(load(args.core)[0]).to(device)
    listener, hold = network.listener.train(), network.hold
    learnt = [*listener.parameters(), *hold.parameters()]
    optimizer = torch.optim.AdamW(learnt, lr=args.rate, weight_decay=1e-3, betas=(0.9, 0.98))
    average = [value.detach().clone() for value in learnt]
    state = torch.load(args.core, map_location="cpu", weights_only=True)
    analysis, ahead = spectrum.windows()[0].to(device), HoldScenes(pool, args.batch)
    # Half of the scenes go on from another one, as a long call does.
    before = torch.zeros(1, args.batch, HOLD_HIDDEN, device=device)
    step, recent, first = 0, [], time.time()

    def save(name):
        names = [f"core.listener.{k}" for k, _ in listener.named_parameters()] + [f"core.hold.{k}" for k, _ in hold.named_parameters()]
        torch.save(state | {name: value.cpu() for name, value in zip(names, average)}, args.out / name)

    while time.time() - started < args.seconds:
        share = (time.time() - first) / (args.seconds - (first - started))
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 100) * 0.5 * (1 + math.cos(math.pi * min(1, share)))
        heard, music, weight = examples(network, analysis, *ahead.next())
        goes_on = (torch.rand(1, args.batch, 1, device=device) < 0.5).float()
        out, last = listener(heard, before[:, torch.randperm(args.batch, device=device)] * goes_on)
        before = last.detach()
        logit = hold(out)[..., 0]
        cost = functional.binary_cross_entropy_with_logits(logit, music, weight, reduction="sum") / weight.sum()
        optimizer.zero_grad(set_to_none=True)
        cost.backward()
        nn.utils.clip_grad_norm_(learnt, 1.0)
        optimizer.step()
        step += 1
        with torch.no_grad():
            torch._foreach_lerp_(average, [value.detach() for value in learnt], 1 - min(0.998, step / (step + 20)))
            if step % 20 == 0:
                is_near = weight >= NEAR
                recent.append([float(cost), float((logit[music > 0] > 0).float().mean()), float((logit[is_near] > 0).float().mean())])
        if step % 200 == 0:
            print(step, round(time.time() - started, 1), "cost, music heard, near taken for it", *np.mean(recent[-10:], 0).round(4), flush=True)
        if step % args.kept_every == 0:
            save(f"core-{step}.pt")
    save("core.pt")
    print("steps", step, flush=True)


if __name__ == "__main__":
    main()
