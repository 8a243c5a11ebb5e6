"""Fits the layer that tells music on hold from a near talker, on top of a network that stays as it is; seconds on a GPU, minutes without.

python -m viva.fit_hold --packs packs --core out/core.pt --out out/core.pt
"""

import argparse

import numpy as np
import torch
from torch.nn import functional

from . import spectrum
from .export import load
from .mixing import ON_HOLD, Mixer, Pool, scenes
from .network import BINS, features
from .packs import Corpus, decode
from .tracks import plan

AT_ONCE = 24
EVERY = 3  # of the frames one is kept: those beside one another say the same
HEARD = 1e-3  # of a scene's loudest power: softer frames are neither music nor speech


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packs", required=True)
    parser.add_argument("--core", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--library")
    parser.add_argument("--scenes", type=int, default=1200)
    parser.add_argument("--rooms", type=int, default=160)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--less", type=float, default=1.0, help="taken off the layer's bias: the gate closes later")
    return parser.parse_args()


@torch.no_grad()
def examples(network, pool, analysis):
    """Hidden layers of frames, whether they are music on hold, and how much each counts."""
    on_hold = torch.rand(AT_ONCE, device=analysis.device) < 0.5
    low, high = ON_HOLD
    others = high + torch.rand(AT_ONCE, device=analysis.device) * (1 - high)
    kinds = torch.where(on_hold, low + torch.rand(AT_ONCE, device=analysis.device) * (high - low), others)
    mix, near, reference, narrow, first_peak, _ = scenes(pool, AT_ONCE, kinds)
    x, s = spectrum.analyse(mix, analysis), spectrum.analyse(near, analysis)
    is_direct = narrow & (torch.rand(AT_ONCE, device=analysis.device) < 0.6)
    x = torch.cat([x[..., :129], x[..., 129:] * ~is_direct[:, None, None]], -1)
    power = x.real**2 + x.imag**2
    _, _, both = network(features(power, first_peak))
    unit = (reference * float(analysis.pow(2).sum().sqrt()) * 0.95)[:, None]
    energy = (s.real**2 + s.imag**2).sum(-1) / unit**2
    active = functional.max_pool1d((energy > BINS * 3.2e-4).float()[:, None], 5, 1, 2)[:, 0] > 0
    beside = functional.max_pool1d(active.float()[:, None], 61, 1, 30)[:, 0] > 0
    total = power.sum(-1)
    loud = total > total.amax(1, keepdim=True) * HEARD
    music = on_hold[:, None] & ~beside & loud
    weight = music * 1.0 + active * 1.0 + (~on_hold[:, None] & ~active) * 0.3
    kept = slice(None, None, EVERY)
    return both[:, kept].flatten(0, 1), music[:, kept].flatten().float(), weight[:, kept].flatten()


def main():
    args = arguments()
    torch.manual_seed(args.seed)
    torch.set_num_threads(2)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = load(args.core)[0].to(device)
    corpus = Corpus(decode(args.packs, args.library))
    rng = np.random.default_rng(args.seed)
    mixer = Mixer(corpus, 6.4, rng, device, args.rooms)

    def plans():
        while True:
            yield plan(rng, corpus, AT_ONCE, 6.4)

    pool = Pool(mixer, plans(), 4 * AT_ONCE)
    for _ in range(4):
        pool.renew()
    analysis, parts = spectrum.windows()[0].to(device), []
    for k in range(args.scenes // AT_ONCE):
        pool.renew()
        parts.append(examples(network, pool, analysis))
        if k % 10 == 9:
            print("scenes", (k + 1) * AT_ONCE, flush=True)
    seen, music, weight = (torch.cat(part) for part in zip(*parts))
    held = torch.arange(len(seen), device=device) >= len(seen) * 9 // 10
    layer = torch.nn.Linear(seen.shape[1], 1).to(device)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.02)
    for step in range(args.steps):
        optimizer.param_groups[0]["lr"] = 0.02 * (1 - step / args.steps)
        chosen = torch.randint(0, int((~held).sum()), (16_384,), device=device)
        cost = functional.binary_cross_entropy_with_logits(layer(seen[chosen])[:, 0], music[chosen], weight[chosen])
        cost = cost + 1e-5 * layer.weight.pow(2).sum()
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
    with torch.no_grad():
        logit = layer(seen[held])[:, 0]
        is_music, is_speech = (music[held] > 0), (weight[held] == 1) & (music[held] == 0)
        print("music taken for it", float((logit[is_music] > 0).float().mean()), "speech", float((logit[is_speech] > 0).float().mean()), "cost", float(cost))
    state = torch.load(args.core, map_location="cpu", weights_only=True)
    state["core.hold.weight"], state["core.hold.bias"] = layer.weight.detach().cpu(), layer.bias.detach().cpu() - args.less
    torch.save(state, args.out)


if __name__ == "__main__":
    main()
