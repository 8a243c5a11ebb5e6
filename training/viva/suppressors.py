"""Noise suppressors of others on the same scenes: RNNoise and GTCRN, run by Node (bench/suppressors/)."""

import pathlib
import subprocess

import numpy as np
from scipy import signal

RATES_HZ = dict(rnnoise=48_000, gtcrn=16_000)
FILTER = pathlib.Path(__file__).parents[2] / "bench/suppressors/filter.ts"


def suppress(name, x, rate_hz):
    """(samples,) at any rate that divides the suppressor's own -> (samples,) at the same rate."""
    factor = RATES_HZ[name] // rate_hz
    samples = signal.resample_poly(x, factor, 1).astype("<f4")
    run = subprocess.run(["node", str(FILTER), name], input=samples.tobytes(), stdout=subprocess.PIPE, check=True)
    y = np.frombuffer(run.stdout, "<f4").astype(np.float64)
    return signal.resample_poly(y, 1, factor)[: len(x)].astype(np.float32)
