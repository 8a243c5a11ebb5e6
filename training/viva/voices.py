"""More voices than there are talkers."""

import torch

SIZE, HOP = 512, 128
SMOOTH = 28  # cepstral coefficients: what is kept is the head, not the pitch
NARROWEST, WIDEST = 0.86, 1.17
MOST_DB = 24.0


def other_heads(x, share=0.5):
    """(batch, samples) of speech; a share of them with resonances moved up or down, and the pitch left as it is."""
    chosen = (torch.rand(len(x), device=x.device) < share).nonzero()[:, 0]
    if len(chosen) == 0:
        return x
    window = torch.hann_window(SIZE, device=x.device)
    spectra = torch.stft(x[chosen], SIZE, HOP, window=window, return_complex=True).transpose(1, 2)
    size = spectra.abs()
    level = torch.log(size + 1e-4 * size.amax((1, 2), keepdim=True) + 1e-9)
    cepstrum = torch.fft.irfft(level, n=SIZE)
    cepstrum[..., SMOOTH : SIZE - SMOOTH + 1] = 0
    smooth = torch.fft.rfft(cepstrum, n=SIZE).real
    factor = NARROWEST + (WIDEST - NARROWEST) * torch.rand(len(chosen), 1, device=x.device)
    bins = smooth.shape[-1]
    place = (torch.arange(bins, device=x.device) / factor).clamp(0, bins - 1.001)
    low = place.long()
    part = (place - low)[:, None]
    index = low[:, None].expand_as(smooth)
    moved = smooth.gather(-1, index) * (1 - part) + smooth.gather(-1, index + 1) * part
    most = MOST_DB * 0.1151
    out = x.clone()
    changed = (spectra * torch.exp((moved - smooth).clamp(-most, most))).transpose(1, 2)
    out[chosen] = torch.istft(changed, SIZE, HOP, window=window, length=x.shape[1])
    return out
