"""What Spark keeps of a key: things as bytes, by the thousand, written and read often."""

from __future__ import annotations

import copyreg
import gc
import io
import pickle
import random
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Distributions of river, and the attribute in which each has a generator of its own.
_DISTRIBUTIONS, _GENERATOR = ("Gaussian", "Multinomial", "Beta"), "_rng"
# What pickle raises of what is no pickle, is cut off, or names what is not there.
_DAMAGE = (
    *(zlib.error, pickle.UnpicklingError, EOFError, ImportError, AttributeError),
    *(LookupError, ValueError, TypeError),
)
# What those without a seed draw from, which is nothing that has to come back.
_UNSEEDED = random.Random()


def kept(thing: Any) -> bytes:
    """A thing as bytes. Most of a pickled tree is names: level 1 makes a quarter of it.

    Examples
    --------
    >>> loaded(kept({"a": [1.0, 2.0]}))
    {'a': [1.0, 2.0]}
    """
    try:
        data = _written(pickle.Pickler, thing)
    except (AttributeError, TypeError, pickle.PicklingError):
        # A function or class of the program itself, which has no name in a worker. Not for all:
        # it takes several times as long.
        from pyspark import cloudpickle

        data = _written(cloudpickle.Pickler, thing)
    return zlib.compress(data, 1)


def _written(kind: Any, thing: Any) -> memoryview:
    file = io.BytesIO()
    pickler = kind(file, pickle.HIGHEST_PROTOCOL)
    known = getattr(pickler, "dispatch_table", copyreg.dispatch_table)
    pickler.dispatch_table = {**known, **_ways()}
    pickler.dump(thing)
    return file.getbuffer()


def loaded(data: bytes) -> Any:
    """What was kept."""
    try:
        return pickle.loads(zlib.decompress(data))
    except _DAMAGE as error:
        raise ValueError(
            f"what is kept of a key is damaged, or of an earlier ipdp ({error}): begin with "
            "another checkpointLocation"
        ) from None


@contextmanager
def without_collector() -> Iterator[None]:
    """Look for no garbage: to restore makes many objects, and leaves none of them over."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


# A Hoeffding tree has a distribution for each leaf, feature and class, and each of them a generator
# of 2.5 kB, from which the tree never draws: nine tenths of its pickle.


def _ways() -> dict[type, Callable[[Any], Any]]:
    """How objects of some types are written."""
    proba = sys.modules.get("river.proba")
    kinds = [getattr(proba, name, None) for name in _DISTRIBUTIONS]
    return {kind: _without_generator for kind in kinds if kind is not None}


def _without_generator(distribution: Any) -> Any:
    state = dict(vars(distribution))
    if state.get("seed") is not None or _GENERATOR not in state:
        return distribution.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    del state[_GENERATOR]
    return _unseeded, (type(distribution),), state


def _unseeded(kind: Any) -> Any:
    distribution = kind.__new__(kind)
    setattr(distribution, _GENERATOR, _UNSEEDED)
    return distribution
