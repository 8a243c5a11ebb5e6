"""UL-UNAS on the same scenes: its authors' network as they publish it, `ulunas_stream_simple.onnx`. Weights: MIT."""

import numpy as np
import onnxruntime
import torch
from scipy import signal

RATE_HZ = 16_000
WINDOW = 512
HOP = 256


class UlUnas:
    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options)
        self.inputs = self.session.get_inputs()

    def __call__(self, x, rate_hz):
        """(samples,) at any rate that divides 16 kHz -> (samples,) at the same rate."""
        factor = RATE_HZ // rate_hz
        wide = torch.from_numpy(signal.resample_poly(x, factor, 1).astype(np.float32))
        spectrum = dict(n_fft=WINDOW, hop_length=HOP, window=torch.hann_window(WINDOW))
        frames = torch.view_as_real(torch.stft(wide[None], **spectrum, return_complex=True)).numpy()
        memory = [np.zeros(i.shape, np.float32) for i in self.inputs[1:]]
        found = []
        for t in range(frames.shape[2]):
            given = [frames[:, :, t : t + 1], *memory]
            enhanced, *memory = self.session.run(None, {i.name: v for i, v in zip(self.inputs, given)})
            found.append(enhanced)
        enhanced = torch.view_as_complex(torch.from_numpy(np.concatenate(found, 2)))
        y = torch.istft(enhanced, **spectrum, length=len(wide))[0].numpy()
        return signal.resample_poly(y.astype(np.float64), 1, factor)[: len(x)].astype(np.float32)
