"""Writes vectors of many clips, to compare the engine with: node packages/viva/src/testing/compare-reference.ts clips/

python -m viva.reference_clips ../packages/viva/models scenes/test clips --count 100
"""

import argparse
import json
import pathlib

import numpy as np
import torch

from .isolate import isolate
from .model_file import read


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("scenes", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=6)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    models = {name: read(args.models / f"{name}.viva") for name in ("tel", "pro")}
    scenes = json.loads((args.scenes / "meta.json").read_text())
    chosen, cases = scenes[:: max(1, len(scenes) // args.count)][: args.count], []
    if len(chosen) < args.count:
        chosen = scenes[: args.count]
    for index, scene in enumerate(chosen):
        name = "tel" if index % 2 == 0 else "pro"
        # A wide-band scene played at 32 kHz is half as long: what matters is that both calculate the same.
        rate_hz = 8_000 if scene["narrow"] else 16_000 if name == "tel" else 32_000
        header, network, high_band = models[name]
        mix = np.load(args.scenes / f"{scene['name']}.npz")["mix"][: args.seconds * rate_hz]
        samples = np.clip(mix * 32768, -32768, 32767).astype("<i2")
        out, _, _ = isolate(network, torch.from_numpy(samples.astype(np.float32) / 32768), rate_hz, high_band)
        samples.tofile(args.out / f"{scene['name']}.in.s16")
        (out.numpy() * 32768).round().clip(-32768, 32767).astype("<i2").tofile(args.out / f"{scene['name']}.out.s16")
        cases.append(dict(file=scene["name"], model=name, sampleRateHz=rate_hz, payloadSha256=header["payloadSha256"]))
    (args.out / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main()
