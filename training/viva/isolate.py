"""Runs a network over a whole recording, with the same result as the streaming engine."""

import torch

from . import spectrum
from .network import BANDS, BINS, band_features, features, hold_gate, peak_levels, remembering, spread_bands


def gains_of(network, spectra, rate_hz, high_band=None):
    """Gains (batch, frames, bins of this rate) and how likely the near talker speaks."""
    power = (spectra.real**2 + spectra.imag**2) * (spectrum.RATE_HZ / rate_hz) ** 2
    bins = power.shape[-1]
    low = power.new_zeros(*power.shape[:2], BINS)
    low[..., : min(bins, BINS)] = power[..., :BINS]
    seen, both = network.layers(features(low))
    logit = remembering(network.near(both)[..., 0])
    gains = network.gated(both, logit)
    gate = hold_gate(network.on_hold(seen, both))
    near = torch.sigmoid(logit) * gate
    if bins <= BINS:
        return gains[..., :bins] * gate[..., None], near
    all_gains = torch.zeros_like(power)
    all_gains[..., :BINS] = gains
    if high_band is not None:
        high = power.new_zeros(*power.shape[:2], BANDS * 16)
        count = min(bins - BINS, BANDS * 16)
        high[..., :count] = power[..., BINS : BINS + count]
        _, peak = peak_levels(low)
        spread = spread_bands(high_band(both, band_features(high, peak), logit))
        all_gains[..., BINS : BINS + count] = spread[..., :count]
    return all_gains * gate[..., None], near


@torch.no_grad()
def isolate(network, x, rate_hz=spectrum.RATE_HZ, high_band=None):
    """(samples,) float -> (samples,) float, aligned with the input, and gains of every frame and how likely the near talker speaks in it."""
    _, hop = spectrum.sizes(rate_hz)
    analysis, synthesis = spectrum.windows(rate_hz)
    padded = torch.nn.functional.pad(x, (0, 3 * hop + (-len(x)) % hop))[None]
    spectra = spectrum.analyse(padded, analysis, rate_hz)
    gains, near = gains_of(network, spectra, rate_hz, high_band)
    out = spectrum.synthesise(spectra[:, :-1] * gains[:, 1:], synthesis, rate_hz)
    return out[0, : len(x)], gains[0], near[0]
