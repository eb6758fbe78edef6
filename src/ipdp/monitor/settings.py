"""What a monitor can be set to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from ipdp.core.validation import as_number, listed
from ipdp.core.words import shown
from ipdp.explainers.pdp import IncrementalPDP
from ipdp.monitor.change import Kind
from ipdp.monitor.data.move import Aspect
from ipdp.monitor.data.moves import Periods
from ipdp.monitor.notify import Handler

StatisticName = Literal["shape", "importance", "l2", "derivative", "sign"]
"""What is tested for changes."""


def handlers_of(handlers: Handler | Sequence[Handler]) -> list[Handler]:
    """The handlers that were given, each of which can be called, or an error."""
    found = [handlers] if callable(handlers) else listed("handlers", handlers)
    for each in found:
        if not callable(each):
            raise TypeError(f"a handler is called with a change, which {shown(each)} cannot be")
    return found


def check_settings(pdp: Any, statistic: str, delta: float, tolerance: float) -> None:
    """Raise an error if a monitor cannot have these settings."""
    if not isinstance(pdp, IncrementalPDP):
        raise TypeError(f"a Monitor watches an IncrementalPDP, got {type(pdp).__name__}")
    if pdp.features is not None and all(isinstance(each, tuple) for each in pdp.features):
        warnings.warn(
            "a monitor follows single features: of pairs alone it reports nothing", stacklevel=3
        )
    if not pdp.n_ice:
        raise ValueError("the monitor reads the newest ICE curve: n_ice must be at least 1")
    if statistic not in get_args(StatisticName):
        names = ", ".join(get_args(StatisticName))
        raise ValueError(f"statistic must be one of {names}, got {shown(statistic)}")
    if not 0 < as_number(delta) < 1:
        raise ValueError(f"delta must be in (0, 1), got {shown(delta)}")
    if (
        not 0 <= as_number(tolerance) < math.inf
    ):  # beyond any number, nothing would ever be reported
        raise ValueError(f"tolerance must not be negative, and be finite, got {shown(tolerance)}")


def check_data_settings(
    false_alarms_per: float, period: Periods, report: Sequence[str] | None
) -> None:
    """Raise an error if moves of the data cannot be found, or reported, like that."""
    if not 1 <= as_number(false_alarms_per) < math.inf:
        raise ValueError(
            f"false_alarms_per must be a number of at least 1, got {shown(false_alarms_per)}"
        )
    periods = period.values() if isinstance(period, Mapping) else [period]
    if any(p is not None and not 1 < as_number(p) < math.inf for p in periods):
        raise ValueError(f"period must be more than 1, got {shown(period)}")
    known = (*get_args(Kind), *get_args(Aspect))
    ways = (
        () if report is None else [report] if isinstance(report, str) else listed("report", report)
    )
    if isinstance(report, str) or any(way not in known for way in ways):
        raise ValueError(
            f"report must be a list of some of {', '.join(known)}, got {shown(report)}"
        )
