"""Damage to JSON-safe values, which can be undone."""

from __future__ import annotations

import base64
import json
import math
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 3, 7, 1000, 10**6, 2**31, 2**63, 10**30, 10**400),
    *(0.0, -0.0, 0.5, -1.5, 1e308, -1e308, 1e200, 5e-324, math.nan, math.inf, -math.inf),
    *("", "x", "nan", "a", "1", "\ud800", "\x00", "y" * 5000, "<script>"),
    *([], [0], [1.0], [[]], [[1.0, 2.0]], [None], ["x"], [[["x"]]]),
    *({}, {"float": "nan"}, {"float": "x"}, {"float": []}, {"": [2]}, {"x": 1}),
    {"shape": [1], "floats": "eJwDAAAAAAE="},
    {"numpy": ["O", 1]},
    {"tuple": [1]},
]

Parent = dict[str, Any] | list[Any]


def sites(tree: Any) -> list[tuple[Parent, Any]]:
    """Where to do damage: each value, but of a long list the ends and one between."""
    return list(_sites(tree))


def _sites(tree: Any) -> Iterator[tuple[Parent, Any]]:
    if isinstance(tree, dict):
        keys: list[Any] = list(tree)
    elif isinstance(tree, list):
        n = len(tree)
        keys = list(range(n)) if n <= 4 else [0, n // 2, n - 1]
    else:
        return
    for key in keys:
        yield tree, key
        yield from _sites(tree[key])


class Damage:
    """Damages a value in place at random, and takes it back."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self._sites = sites(tree)
        self._undo: list[tuple[Parent, Any]] = []

    def do(self, rng: random.Random, n: int) -> None:
        """Do damage so many times."""
        for _ in range(n):
            parent, key = rng.choice(self._sites)
            self._undo.append((parent, parent.copy()))
            # Not of every value, and it may be gone.
            with suppress(LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
                rng.choice(KINDS)(rng, parent, key, self._sites)

    def undo(self) -> None:
        """Make everything as it was."""
        for parent, was in reversed(self._undo):
            parent.clear()
            if isinstance(parent, dict):
                parent.update(was)
            else:
                parent.extend(was)
        self._undo.clear()


def _replace(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    parent[key] = rng.choice(VALUES)


def _delete(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    del parent[key]


def _other(rng: random.Random, parent: Any, key: Any, known: Any) -> None:
    """Put something else of the same value there."""
    other, place = rng.choice(known)
    parent[key] = json.loads(json.dumps(other[place]))


def _swap(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    other = rng.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
    parent[key], parent[other] = parent[other], parent[key]


def _number(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    value = parent[key]
    changes: list[Callable[[Any], Any]] = [
        lambda v: -v,
        lambda v: v + 1,
        lambda v: v - 1,
        lambda v: v * 1e300,
        lambda v: v * 1e-300,
        lambda v: v * 1000,
        float,
        int,
        str,
        bool,
        lambda v: [v],
        lambda v: {"float": str(v)},
        lambda v: np.nextafter(v, math.inf).item(),
    ]
    parent[key] = rng.choice(changes)(value)


def _length(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    value = parent[key]
    changes: list[Callable[[Any], Any]] = [
        lambda v: v[:-1],
        lambda v: v[1:],
        lambda v: v[: len(v) // 2],
        lambda v: v[:1],
        lambda v: v[:0],
        lambda v: v + v[-1:],
        lambda v: v * 2,
        lambda v: v * 50,
        lambda v: v[::-1],
        lambda v: [v],
        lambda v: [item for part in v for item in part],
        lambda v: [part[:-1] for part in v],
        lambda v: [part + part[-1:] for part in v],
        lambda v: [*v[:-1], v[0]],
    ]
    parent[key] = rng.choice(changes)(value)


def _rename(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    if isinstance(parent, dict):
        parent[rng.choice([key + "x", "", "x", *parent])] = parent.pop(key)


def _packed(rng: random.Random, parent: Any, key: Any, _: Any) -> None:
    """Another array, rightly packed; or far more than its few bytes tell."""
    value = parent[key] if isinstance(parent[key], dict) else parent
    flat = np.frombuffer(zlib.decompress(base64.b64decode(value["floats"])), dtype=np.uint8)
    floats = np.ascontiguousarray(flat.reshape(8, -1).T).view("<f8").ravel().copy()
    changes: list[Callable[[Any], Any]] = [
        lambda v: np.append(v, 1.0),
        lambda v: v[:-1],
        lambda v: np.where(np.arange(len(v)) == len(v) // 2, math.nan, v),
        lambda v: np.where(np.arange(len(v)) == 0, 1e308, v),
        lambda v: -v,
        lambda v: np.zeros(2_000_000),
    ]
    changed = rng.choice(changes)(floats)
    by_byte = changed.astype("<f8").view(np.uint8).reshape(-1, 8).T.tobytes()
    packed = base64.b64encode(zlib.compress(by_byte, 1)).decode("ascii")
    shape = rng.choice([value["shape"], [len(changed)], [-1], [len(changed), 1]])
    parent[key] = {"shape": shape, "floats": packed}


KINDS = [
    *(_replace, _replace, _delete, _other, _swap, _number, _number, _length, _length),
    *(_rename, _packed),
]


def flipped(rng: random.Random, data: bytes) -> bytes:
    """Bytes with some bits flipped, a piece taken out or doubled, or cut off."""
    out = bytearray(data)
    kind = rng.randrange(5)
    if kind <= 1:
        for _ in range(rng.choice([1, 1, 2, 5, 50])):
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        del out[rng.randrange(len(out)) :]
    else:
        start = rng.randrange(len(out))
        piece = out[start : start + rng.choice([1, 4, 8, 64])]
        if kind == 3:
            out[start:start] = piece
        else:
            del out[start : start + len(piece)]
    return bytes(out)
