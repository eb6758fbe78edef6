"""Scaling, linear models and naive Bayes, in two builds with the same names.

Whatever needs a kernel looks it up in `current`, so that the other build can be put in its place.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from ipdp.core.kernels.build import build
from ipdp.models.river.kernels import array


class Kernels(NamedTuple):
    """One build, "compiled" or "pure": see `linear.py` and `bayes.py`."""

    build: str
    scaled: Any
    LinearStep: Any
    logistic: Any
    BayesStep: Any
    softmax: Any

    @classmethod
    def of(cls, build: str, *modules: Any) -> Kernels:
        """A build, from its modules."""
        found = {name: value for module in modules for name, value in vars(module).items()}
        return cls(build, *[found[name] for name in cls._fields[1:]])


PURE = Kernels.of("pure", array)


def compiled() -> Kernels:
    """The compiled build; raises ImportError where there is none."""
    names = ("_linear", "_bayes")
    return Kernels.of("compiled", *[importlib.import_module(f"{__name__}.{k}") for k in names])


current = PURE if build() == "pure" else compiled()
"""The build that runs."""
