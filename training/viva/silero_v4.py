"""Silero VAD v4, whose network is another than that of v5 and v6: it judges, and was never in a loss. Weights: MIT."""

import numpy as np
import onnxruntime
import torch

FRAME = 512


class SileroV4:
    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options)

    def __call__(self, x):
        """(1, samples) at 16 kHz -> a logit per 32 ms."""
        samples = x.numpy().astype(np.float32)
        h = c = np.zeros((2, 1, 64), np.float32)
        found = []
        for start in range(0, samples.shape[1] - FRAME + 1, FRAME):
            inputs = dict(input=samples[:, start : start + FRAME], sr=np.array(16_000, np.int64), h=h, c=c)
            probability, h, c = self.session.run(None, inputs)
            found.append(probability[0, 0])
        return torch.logit(torch.from_numpy(np.array(found, np.float32))[None], eps=1e-6)
