"""The mean of several checkpoints of one lineage: it keeps what each of them does well.

python -m viva.average out/core.pt checkpoints/core-46888.pt out1/core.pt out2/core.pt
python -m viva.average out/core.pt 0.6*out1/core.pt 0.4*out2/core.pt
python -m viva.average out/core.pt 0.6*out1/core.pt 0.4*out2/core.pt core.first=1,0 high=1,0   # other shares for some layers
"""

import sys

import torch


def main():
    target, *given = sys.argv[1:]
    layers = {name: [float(share) for share in shares.split(",")] for name, shares in (word.split("=") for word in given if "=" in word)}
    shares, paths = zip(*(source.split("*") if "*" in source else ("1", source) for source in given if "=" not in source))
    shares = [float(share) / sum(map(float, shares)) for share in shares]
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in paths]
    mean = {}
    for name in states[0]:
        own = next((layers[layer] for layer in layers if name.startswith(f"{layer}.")), shares)
        parts = [(share, state) for share, state in zip(own, states) if share]
        if all(name in state for _, state in parts):
            mean[name] = sum(share * state[name] for share, state in parts)
    torch.save(mean, target)


if __name__ == "__main__":
    main()
