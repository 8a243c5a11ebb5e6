"""Noise suppressors of others on the same scenes: RNNoise and GTCRN, run by Node (bench/suppressors/)."""

import pathlib
import subprocess

import numpy as np
from scipy import signal

RATES_HZ = dict(rnnoise=48_000, gtcrn=16_000)
ROOT = pathlib.Path(__file__).resolve().parents[2]
FILTER = ROOT / "bench/suppressors/filter.ts"
# The repository brings its own, for the system's may be too old to run TypeScript.
OWN_NODE = ROOT / "node_modules/.bin/node"
NODE = str(OWN_NODE) if OWN_NODE.exists() else "node"


def suppress(name, x, rate_hz):
    """(samples,) at any rate that divides the suppressor's own -> (samples,) at the same rate."""
    factor = RATES_HZ[name] // rate_hz
    samples = signal.resample_poly(x, factor, 1).astype("<f4")
    run = subprocess.run([NODE, str(FILTER), name], input=samples.tobytes(), stdout=subprocess.PIPE, check=True)
    y = np.frombuffer(run.stdout, "<f4").astype(np.float64)
    return signal.resample_poly(y, 1, factor)[: len(x)].astype(np.float32)
