"""Random responses of microphones, loudspeakers and lines, as magnitudes over the bins of one long transform."""

import math

import torch
from torch.nn import functional

from .packs import RATE_HZ


class Responses:
    def __init__(self, size, device):
        self.size, self.device = size, device
        self.hz = torch.fft.rfftfreq(size, 1 / RATE_HZ).to(device)
        low = 1 / (1 + (240 / self.hz.clamp_min(1)) ** 8).sqrt()
        high = 1 / (1 + (self.hz / 3500) ** 16).sqrt()
        self.below_4k = 1 / (1 + (self.hz / 3900) ** 120).sqrt()
        self.telephone = low * high * self.below_4k

    def low_pass(self, corner_hz, order):
        return 1 / torch.sqrt(1 + (self.hz[None] / corner_hz[:, None]) ** (2 * order[:, None]))

    def high_pass(self, corner_hz):
        ratio = (self.hz[None] / corner_hz[:, None].clamp_min(1)) ** 2
        return torch.where(corner_hz[:, None] > 1, ratio / torch.sqrt(1 + ratio**2), torch.ones_like(ratio))

    def equaliser(self, count, spread_db):
        """Smooth, nine random points over a warped frequency axis."""
        points = torch.randn(count, 1, 9, device=self.device) * spread_db
        curve = functional.interpolate(points, size=200, mode="linear", align_corners=True)[:, 0]
        place = 200 * torch.log2(1 + self.hz / 200) / math.log2(1 + 8000 / 200)
        return 10 ** (curve[:, place.long().clamp(0, 199)] / 20)

    def apply(self, x, response):
        return torch.fft.irfft(torch.fft.rfft(x, n=self.size) * response, n=self.size)[:, : x.shape[1]]

    def telephone_line(self, x, coded):
        """Down to 8 kHz, 8 bits where `coded`, and up again by converters of any quality: some leave a mirror image."""
        y = x[:, ::2].clamp(-1, 1)
        code = torch.round(torch.sign(y) * torch.log1p(255 * y.abs()) / math.log(256) * 127) / 127
        mu_law = torch.sign(code) * torch.expm1(code.abs() * math.log(256)) / 255
        raised = torch.zeros_like(x)
        raised[:, ::2] = torch.where(coded[:, None], mu_law, y) * 2
        uniform = lambda low, high: low + (high - low) * torch.rand(len(x), device=self.device)
        image = 10 ** (-uniform(45, 120) / 20)
        return self.apply(raised, self.low_pass(uniform(3600, 3950), uniform(20, 80)) + image[:, None])
