"""Silero VAD (v5 and v6 share one graph) in torch, so that a gradient passes through it. Weights: MIT.

python -m viva.silero silero_vad_v6.onnx silero_v6.npz
python -m viva.silero silero_vad_v6.onnx silero_v6_8k.npz 8000

For 8 kHz the file holds a network of its own, with windows of the same length in samples' half.
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Silero(nn.Module):
    def __init__(self, path):
        super().__init__()
        w = {k: torch.from_numpy(v.copy()) for k, v in np.load(path).items()}
        self.register_buffer("basis", w["stft.forward_basis_buffer"][:, 0].t().contiguous())
        self.window = self.basis.shape[0]  # 16 ms
        self.rate_hz = self.window * 125 // 2
        for i in range(4):
            kernel = w[f"encoder.{i}.reparam_conv.weight"]
            self.register_buffer(f"w{i}", kernel.permute(2, 1, 0).reshape(-1, kernel.shape[0]).contiguous())
            self.register_buffer(f"b{i}", w[f"encoder.{i}.reparam_conv.bias"])
        self.register_buffer("out_w", w["decoder.decoder.2.weight"][:, :, 0])
        self.register_buffer("out_b", w["decoder.decoder.2.bias"])
        self.rnn = nn.LSTM(128, 128, batch_first=True)
        with torch.no_grad():
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(self.rnn, f"{name}_l0").copy_(w[f"decoder.rnn.{name}"])
        for parameter in self.parameters():
            parameter.requires_grad_(False)

    def forward(self, x):
        """(batch, samples) -> a logit per 32 ms."""
        window, before = self.window, self.window // 4
        count = x.shape[1] // (2 * window)
        x = functional.pad(x[:, : count * 2 * window], (before, 0)).unfold(1, 2 * window + before, 2 * window)
        x = torch.cat([x, x[..., -before - 1 : -1].flip(-1)], -1).unfold(2, window, window // 2)
        h = x @ self.basis
        bins = window // 2 + 1
        h = (h[..., :bins] ** 2 + h[..., bins:] ** 2 + 1e-14).sqrt()
        for i, stride in enumerate((1, 2, 2, 1)):
            padded = functional.pad(h, (0, 0, 1, 1))
            last = (h.shape[2] - 1) // stride * stride
            seen = torch.cat([padded[:, :, j : j + last + 1 : stride] for j in range(3)], -1)
            h = functional.relu(seen @ getattr(self, f"w{i}") + getattr(self, f"b{i}"))
        out, _ = self.rnn(h[:, :, 0])
        return functional.linear(functional.relu(out), self.out_w, self.out_b)[..., 0]


def convert(source, target, rate_hz="16000"):
    """Takes the weights of one rate out of the ONNX file."""
    import onnx
    from onnx import numpy_helper

    weights = {}
    for node in onnx.load(source).graph.node:
        side = "then_branch" if rate_hz == "16000" else "else_branch"
        for branch in (a.g for a in node.attribute if a.name == side):
            for constant in (n for n in branch.node if n.op_type == "Constant" and side in n.output[0]):
                name = constant.output[0].split("__")[-1]
                if any(word in name for word in ("weight", "bias", "basis")):
                    weights[name] = numpy_helper.to_array(constant.attribute[0].t)
    np.savez(target, **weights)


if __name__ == "__main__":
    convert(*sys.argv[1:4])
