"""One thread for small calls: to start several costs more than they do."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

# Calls of fewer rows than this are done before other threads have begun.
_FEW = 2_000

_controller: Any = None


def for_rows(n: int, model: Any) -> AbstractContextManager[Any]:
    """A context in which a model of scikit-learn is asked about n rows.

    Its own parallel loops (OpenMP) use one thread for few rows, by threadpoolctl, which
    scikit-learn itself needs.
    """
    global _controller  # noqa: PLW0603  (to look for the libraries takes milliseconds)
    if n >= _FEW or not type(model).__module__.startswith("sklearn."):
        return nullcontext()
    if _controller is None:
        if "threadpoolctl" not in sys.modules:
            return nullcontext()
        found = sys.modules["threadpoolctl"].ThreadpoolController()
        _controller = found.select(user_api="openmp")
    if not _controller.lib_controllers:
        return nullcontext()
    limit: AbstractContextManager[Any] = _controller.limit(limits=1)
    return limit
