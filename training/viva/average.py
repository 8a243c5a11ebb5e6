"""The mean of several checkpoints of one lineage: it keeps what each of them does well.

python -m viva.average out/core.pt checkpoints/core-46888.pt out1/core.pt out2/core.pt
python -m viva.average out/core.pt 0.6*out1/core.pt 0.4*out2/core.pt
"""

import sys

import torch


def main():
    target, *sources = sys.argv[1:]
    shares, paths = zip(*(source.split("*") if "*" in source else ("1", source) for source in sources))
    shares = [float(share) / sum(map(float, shares)) for share in shares]
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in paths]
    shared = set.intersection(*(set(state) for state in states))
    torch.save({name: sum(share * state[name] for share, state in zip(shares, states)) for name in states[0] if name in shared}, target)


if __name__ == "__main__":
    main()
