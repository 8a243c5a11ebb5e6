"""Reads a model file of the engine back, so that what is judged is what ships."""

import hashlib
import json
import pathlib

import numpy as np
import torch

from .export import EIGHT, FEATURES, OUTPUTS, ROWS
from .network import BINS, HighBand, Network


class Payload:
    def __init__(self, data):
        self.data, self.at = data, 0

    def matrix(self, rows, columns):
        bits = np.frombuffer(self.data, "<i2", rows * columns, self.at).reshape(rows, columns // 8, 8)
        self.at += rows * columns * 2
        plain = np.empty_like(bits)
        plain[..., EIGHT] = bits
        return torch.from_numpy(plain.reshape(rows, columns).copy()).view(torch.bfloat16).float()

    def vector(self, count):
        values = np.frombuffer(self.data, "<f4", count, self.at)
        self.at += count * 4
        return torch.from_numpy(values.copy())


def read_recurrent(payload, layer):
    inputs, hidden = layer.input_size, layer.hidden_size
    gates, gates_bias = payload.matrix(2 * hidden, inputs + hidden), payload.vector(2 * hidden)
    wx, bx = payload.matrix(hidden, inputs), payload.vector(hidden)
    wh, bh = payload.matrix(hidden, hidden), payload.vector(hidden)
    layer.weight_ih_l0.copy_(torch.cat([gates[:, :inputs], wx]))
    layer.weight_hh_l0.copy_(torch.cat([gates[:, inputs:], wh]))
    layer.bias_ih_l0.copy_(torch.cat([gates_bias, bx]))
    layer.bias_hh_l0.copy_(torch.cat([torch.zeros(2 * hidden), bh]))


@torch.no_grad()
def read(path):
    """Header, network and high band (or None)."""
    data = pathlib.Path(path).read_bytes()
    magic, header, body = data.split(b"\n", 2)
    header = json.loads(header)
    if magic != b"VIVA2" or hashlib.sha256(body).hexdigest() != header["payloadSha256"]:
        raise ValueError(f"{path} is not a whole model file")
    payload = Payload(body)
    network = Network(header["conv"], header["hidden"])
    frames = payload.matrix(network.conv, 3 * FEATURES).reshape(network.conv, 3, FEATURES)
    network.frames.weight.copy_(frames[..., : BINS + 2].transpose(1, 2))
    network.frames.bias.copy_(payload.vector(network.conv))
    network.slope.weight.copy_(payload.vector(network.conv))
    read_recurrent(payload, network.first)
    read_recurrent(payload, network.second)
    outputs, bias = payload.matrix(OUTPUTS, 2 * network.hidden), payload.vector(OUTPUTS)
    network.gains.weight.copy_(outputs[:BINS])
    network.near.weight.copy_(outputs[BINS : BINS + 1])
    network.gains.bias.copy_(bias[:BINS])
    network.near.bias.copy_(bias[BINS : BINS + 1])
    read_recurrent(payload, network.listener)
    network.hold.weight.copy_(payload.matrix(ROWS, network.listener.hidden_size)[:1])
    network.hold.bias.copy_(payload.vector(ROWS)[:1])
    if header["bands"] == 0:
        return header, network.eval(), None
    high_band = HighBand(network.hidden)
    high_band.layer.weight.copy_(payload.matrix(*high_band.layer.weight.shape))
    high_band.layer.bias.copy_(payload.vector(header["bandHidden"]))
    high_band.slope.weight.copy_(payload.vector(header["bandHidden"]))
    high_band.gains.weight.copy_(payload.matrix(*high_band.gains.weight.shape))
    high_band.gains.bias.copy_(payload.vector(header["bands"]))
    return header, network.eval(), high_band.eval()
