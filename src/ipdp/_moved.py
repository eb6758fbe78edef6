"""Modules that have moved: the old names work until the next release, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "ipdp.dashboard": "ipdp.web",
    "ipdp.models.minibatch": "ipdp.models.river",  # pickled engines name it
    "ipdp.models.trees.mondrian": "ipdp.models.trees.classification",
    "ipdp.monitor.baselines": "ipdp.monitor.detectors.statistics",  # pickled detectors name it
    "ipdp.monitor.handlers": "ipdp.monitor.notify",
    "ipdp.monitor.series": "ipdp.monitor.detectors.statistics",  # pickled detectors name it
    "ipdp.prometheus": "ipdp.runs.prometheus",
    "ipdp.report": "ipdp.web",
    "ipdp.running": "ipdp.runs",
}


class _Finder(MetaPathFinder, Loader):
    """Gives the module at its new place to whoever imports it by its old name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(name, self) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> Any:  # noqa: ARG002  (the protocol wants it)
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        warnings.warn(
            f"{name} is now {MOVED[name]}; the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        sys.modules[name] = importlib.import_module(MOVED[name])


def install() -> None:
    """Let the old names be imported."""
    sys.meta_path.append(_Finder())
