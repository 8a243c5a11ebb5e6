"""Trains the network.

python -m viva.train --packs packs --detectors silero_v6.npz silero_v6_8k.npz --out out --seconds 1500 --of 1500
python -m viva.train … --seconds 560 --of 1120, then … --seconds 560 --of 1120 --resume out/state.pt
python -m viva.train … --out out2 --seconds 420 --of 420 --rate 1e-3 --start out/core.pt
"""

import argparse
import json
import math
import pathlib
import time

import numpy as np
import torch
from torch import nn

from .export import load
from .loss import Loss, Weights
from .memory import Memory
from .mixing import Ahead, Mixer, Pool
from .network import Network
from .packs import Corpus, decode
from .silero import Silero
from .tracks import plan


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packs", required=True)
    parser.add_argument("--detectors", nargs="+", required=True, help="files of viva.silero, for 16 kHz and for 8 kHz: they take turns")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--library", help="libsndfile, where the system has none")
    parser.add_argument("--resume", help="state.pt of the run before")
    parser.add_argument("--start", help="core.pt to go on from, with a schedule of its own")
    parser.add_argument("--seconds", type=float, default=560, help="of this run, everything included")
    parser.add_argument("--of", type=float, default=1120, help="of all runs together: the schedule's length")
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--scene-seconds", type=float, default=9.0)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--slow", type=float, default=1.0, help="share of the rate for the convolution and the first recurrent layer")
    parser.add_argument("--conv", type=int, default=192)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--pool", type=int, default=9000)
    parser.add_argument("--rooms", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept-every", type=int, default=2000, help="steps, a multiple of 200: cores that are kept, to be averaged")
    parser.add_argument("--workers", type=int, default=6)
    return parser.parse_args()


# Tracks of each kind that are made anew at once.
RENEWED = 96


class Plans(torch.utils.data.IterableDataset):
    def __init__(self, corpus, seconds, seed):
        self.corpus, self.seconds, self.seed = corpus, seconds, seed

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        rng = np.random.default_rng([self.seed, worker.id if worker else 0])
        while True:
            yield plan(rng, self.corpus, RENEWED, self.seconds)


def learning_rate(args, step, share):
    warm = min(1, (step + 1) / 200)
    return args.rate * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1, share))))


def groups(network, slow):
    """What the first layers hear changes little from one training to the next; what is made of it does."""
    first = [*network.frames.parameters(), *network.slope.parameters(), *network.first.parameters()]
    known = {id(parameter) for parameter in first}
    rest = [parameter for parameter in network.parameters() if id(parameter) not in known]
    return [dict(params=first, share=slow), dict(params=rest, share=1.0)]


def save(out, average, network, optimizer, step, spent):
    """What ships (`core.pt`), and what a run is resumed from; put in place whole, for a run may be ended at any time."""
    core = {f"core.{k}": v.cpu() for k, v in average.items()}
    state = dict(network=network.state_dict(), optimizer=optimizer.state_dict(), average=average, step=step, spent=spent)
    for name, content in (("core.pt", core), ("state.pt", state)):
        torch.save(content, out / f"{name}.part")
        (out / f"{name}.part").replace(out / name)


def main():
    started = time.time()
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    corpus = Corpus(decode(args.packs, args.library))
    print("hours", round(len(corpus.samples) / 57.6e6, 2), "talkers", len(corpus.talkers), "steady", len(corpus.steady),
          "changing", len(corpus.changing), "music", len(corpus.music), round(time.time() - started, 1), "s", flush=True)
    mixer = Mixer(corpus, args.scene_seconds, np.random.default_rng(args.seed + 100), device, args.rooms)
    print("rooms", round(time.time() - started, 1), "s", flush=True)
    dataset = Plans(corpus, args.scene_seconds, args.seed)
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=args.workers, prefetch_factor=8 if args.workers else None)
    pool = Pool(mixer, iter(loader), args.pool)
    for _ in range(math.ceil(args.pool / RENEWED)):
        pool.renew()
    print("pool", round(time.time() - started, 1), "s", flush=True)

    network = load(args.start)[0] if args.start else Network(args.conv, args.hidden)
    network = network.train().to(device)
    optimizer = torch.optim.AdamW(groups(network, args.slow), lr=args.rate, weight_decay=1e-4, betas=(0.9, 0.98), fused=device == "cuda")
    loss = Loss([Silero(path).to(device) for path in args.detectors], Weights(), device)
    average = {k: v.detach().clone() for k, v in network.state_dict().items()}
    step, spent, memory = 0, 0.0, Memory()
    if args.resume:
        state = torch.load(args.resume, map_location=device, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        average, step, spent = state["average"], state["step"], state["spent"]
    log, recent, first = [], [], time.time()
    ahead = Ahead(pool, args.batch)
    while time.time() - started < args.seconds:
        share = (spent + time.time() - first) / (args.of - (first - started))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(args, step, share) * group["share"]
        total, parts = loss(network, memory, *ahead.next())
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        norm = nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        if device == "cuda":
            # Skips a step that went wrong, as a gradient scaler would, without waiting for the device to know.
            optimizer.found_inf = (~torch.isfinite(norm)).float()
            optimizer.step()
        elif torch.isfinite(norm):
            optimizer.step()
        step += 1
        keep = min(0.999, step / (step + 20))
        with torch.no_grad():
            torch._foreach_lerp_(list(average.values()), list(network.state_dict().values()), 1 - keep)
        if step % 20 == 0:
            recent.append([float(part.detach()) for part in (total, *parts.values())])
        if step % 200 == 0:
            mean = np.mean(recent[-10:], 0).round(4).tolist()
            log.append([step, round(time.time() - started, 1), *mean])
            save(args.out, average, network, optimizer, step, spent + time.time() - first)
            if step % args.kept_every == 0:
                (args.out / f"core-{step}.pt").write_bytes((args.out / "core.pt").read_bytes())
            print(*log[-1], "rate %.5f norm %.2f" % (optimizer.param_groups[-1]["lr"], norm), flush=True)
    save(args.out, average, network, optimizer, step, spent + time.time() - first)
    columns = ["step", "seconds", "total", *parts]
    (args.out / f"log-{step}.json").write_text(json.dumps(dict(args={k: str(v) for k, v in vars(args).items()}, columns=columns, log=log)))
    print("steps", step, "of this run in", round(time.time() - first, 1), "s", flush=True)


if __name__ == "__main__":
    main()
