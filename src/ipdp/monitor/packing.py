"""Arrays of numbers in a state: bit for bit, as short strings."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from ipdp.typing import FloatArray, State


def pack(array: FloatArray) -> State:
    """An array of floats, JSON-safe: a third as long as its digits, often less, and quicker.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack(np.array([[0.1, -np.inf]])))
    array([[ 0.1, -inf]])
    """
    little_endian = np.ascontiguousarray(array, dtype="<f8")
    # The first bytes of all numbers, then the second ones, ...: alike numbers become short.
    by_byte = little_endian.reshape(-1).view(np.uint8).reshape(-1, 8).T
    packed = base64.b64encode(zlib.compress(by_byte.tobytes(), 1))
    return {"shape": list(array.shape), "floats": packed.decode("ascii")}


def unpack(state: State) -> FloatArray:
    """The array that `pack` was given."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(state["floats"])), dtype=np.uint8)
    floats = np.ascontiguousarray(flat.reshape(8, -1).T).view("<f8")
    return floats.reshape(state["shape"]).astype(float)
