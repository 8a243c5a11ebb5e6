"""Reads audio with libsndfile alone, through ctypes: machines with a GPU often have nothing else."""

import ctypes
import ctypes.util

import numpy as np


class Info(ctypes.Structure):
    _fields_ = [
        ("frames", ctypes.c_int64),
        ("samplerate", ctypes.c_int),
        ("channels", ctypes.c_int),
        ("format", ctypes.c_int),
        ("sections", ctypes.c_int),
        ("seekable", ctypes.c_int),
    ]


def open_library(path=None):
    library = ctypes.CDLL(path or ctypes.util.find_library("sndfile"))
    library.sf_open.restype = ctypes.c_void_p
    library.sf_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    library.sf_readf_short.restype = ctypes.c_int64
    library.sf_readf_short.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    library.sf_close.argtypes = [ctypes.c_void_p]
    return library


def read(library, path):
    """First channel as 16-bit samples, and the rate."""
    info = Info()
    handle = library.sf_open(str(path).encode(), 0x10, ctypes.byref(info))
    if not handle:
        raise OSError(f"{path} cannot be read")
    parts, block = [], np.empty((1 << 20) * info.channels, np.int16)
    while (count := library.sf_readf_short(handle, block.ctypes.data, 1 << 20)) > 0:
        parts.append(block[: count * info.channels].copy())
    library.sf_close(handle)
    return np.concatenate(parts).reshape(-1, info.channels)[:, 0], info.samplerate
