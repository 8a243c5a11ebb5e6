"""Writes a checkpoint as a model file of the engine.

python -m viva.export tel checkpoint.pt ../packages/viva/models/tel.viva --version 1.7.0
"""

import argparse
import hashlib
import json

import torch

from .network import BAND_HIDDEN, BANDS, BINS, HOLD_HIDDEN, HighBand, Network

FEATURES = 264
OUTPUTS = 260
ROWS = 4  # which the engine takes at once
LICENCE = "Apache-2.0"
# The engine takes apart eight weights by a shift (0 to 3) and a mask (4 to 7).
EIGHT = [0, 4, 1, 5, 2, 6, 3, 7]


def load(path):
    """Network and high band (or None) of a checkpoint."""
    state = torch.load(path, map_location="cpu", weights_only=True)
    core = {k[5:]: v for k, v in state.items() if k.startswith("core.")} or renamed(state)
    network = Network(core["frames.weight"].shape[0], core["first.weight_hh_l0"].shape[1])
    # Checkpoints before 1.7.0 have no listener for music on hold: then it never says music.
    listening = {k: v for k, v in network.state_dict().items() if k.startswith(("listener.", "hold."))}
    network.load_state_dict(core if "listener.weight_hh_l0" in core else core | listening)
    high = {k[5:]: v for k, v in state.items() if k.startswith("high.")}
    if not high:
        return network.eval(), None
    high_band = HighBand(network.hidden)
    high_band.load_state_dict(high)
    return network.eval(), high_band.eval()


def renamed(state):
    """The first checkpoints had other names."""
    names = {"inp.": "frames.", "act.": "slope.", "g1.0.": "first.", "g2.0.": "second.", "out.": "gains.", "vad.": "near."}
    return {new + k[len(old) :]: v for k, v in state.items() for old, new in names.items() if k.startswith(old)}


def round_to_bfloat16(module):
    """In place, what the engine will calculate with: matrices in bfloat16, everything else as it is."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.copy_(parameter.bfloat16().float())
    return module


def matrix(weights):
    rows, columns = weights.shape
    bits = weights.detach().bfloat16().view(torch.int16).numpy()
    return bits.reshape(rows, columns // 8, 8)[..., EIGHT].astype("<i2").tobytes()


def vector(values):
    return values.detach().numpy().astype("<f4").tobytes()


def padded(weights, rows, columns):
    out = torch.zeros(rows, columns)
    out[: weights.shape[0], : weights.shape[1]] = weights
    return out


def recurrent(layer):
    hidden = layer.hidden_size
    wx, wh, bx, bh = layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0
    gates = 2 * hidden
    return [
        matrix(torch.cat([wx[:gates], wh[:gates]], 1)),
        vector(bx[:gates] + bh[:gates]),
        matrix(wx[gates:]),
        vector(bx[gates:]),
        matrix(wh[gates:]),
        vector(bh[gates:]),
    ]


def payload(network, high_band=None):
    frames = [padded(network.frames.weight[:, :, t], network.conv, FEATURES) for t in range(3)]
    outputs = torch.cat([network.gains.weight, network.near.weight])
    bias, hold_bias = torch.zeros(OUTPUTS), torch.zeros(ROWS)
    bias[: BINS + 1] = torch.cat([network.gains.bias, network.near.bias])
    hold_bias[:1] = network.hold.bias
    parts = [matrix(torch.cat(frames, 1)), vector(network.frames.bias), vector(network.slope.weight)]
    parts += recurrent(network.first) + recurrent(network.second)
    parts += [matrix(padded(outputs, OUTPUTS, 2 * network.hidden)), vector(bias)]
    parts += recurrent(network.listener) + [matrix(padded(network.hold.weight, ROWS, HOLD_HIDDEN)), vector(hold_bias)]
    if high_band is not None:
        parts += [matrix(high_band.layer.weight), vector(high_band.layer.bias), vector(high_band.slope.weight)]
        parts += [matrix(high_band.gains.weight), vector(high_band.gains.bias)]
    return b"".join(parts)


def model_file(name, version, network, high_band=None):
    data = payload(network, high_band)
    header = dict(
        name=name,
        version=version,
        licence=LICENCE,
        conv=network.conv,
        hidden=network.hidden,
        holdHidden=HOLD_HIDDEN,
        bands=BANDS if high_band is not None else 0,
        bandHidden=BAND_HIDDEN if high_band is not None else 0,
        payloadBytes=len(data),
        payloadSha256=hashlib.sha256(data).hexdigest(),
    )
    return b"VIVA2\n" + json.dumps(header).encode() + b"\n" + data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=["tel", "pro"])
    parser.add_argument("checkpoint")
    parser.add_argument("out")
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    network, high_band = load(args.checkpoint)
    data = model_file(args.name, args.version, network, high_band if args.name == "pro" else None)
    with open(args.out, "wb") as file:
        file.write(data)
    print(args.out, len(data), "bytes")


if __name__ == "__main__":
    main()
