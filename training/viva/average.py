"""The mean of several checkpoints of one lineage: it keeps what each of them does well.

python -m viva.average out/core.pt checkpoints/core-46888.pt out1/core.pt out2/core.pt
"""

import sys

import torch


def main():
    target, *sources = sys.argv[1:]
    states = [torch.load(source, map_location="cpu", weights_only=True) for source in sources]
    shared = set.intersection(*(set(state) for state in states))
    torch.save({name: sum(state[name] for state in states) / len(states) for name in states[0] if name in shared}, target)


if __name__ == "__main__":
    main()
