"""A monitor as plain lists and numbers, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipdp.core.typing import State
from ipdp.monitor.change import Change
from ipdp.monitor.features import effects, newest_ice
from ipdp.monitor.records import Records

if TYPE_CHECKING:
    from ipdp.monitor.monitor import Monitor

_VERSION = 2


def save(monitor: Monitor) -> State:
    """Everything the monitor remembers, JSON-safe."""
    watch, inquiry = monitor._watch, monitor._inquiry
    return {
        "version": _VERSION,
        **_settings(monitor),
        "is_whole": monitor._detectors is None,
        "n": monitor._n,
        "records": monitor._records.state,
        "watch": None if watch is None else watch.state,
        "inquiry": None if inquiry is None else inquiry.state,
        "changes": [change.to_dict() for change in monitor.changes],
    }


def restore(monitor: Monitor, state: State) -> None:
    """Bring a monitor of the same settings to a saved state; after an error it is as before."""
    if state.get("version") != _VERSION:
        raise ValueError(
            f"this is a state of version {state.get('version')!r}; this ipdp reads version "
            f"{_VERSION}"
        )
    for name, value in _settings(monitor).items():
        if state.get(name) != value:
            raise ValueError(
                f"the state was made with {name} = {state.get(name)!r}, this monitor has {value!r}"
            )
    if state["n"] and newest_ice(monitor.pdp) is None:
        raise ValueError("give the explainer its state first, then the monitor")
    before = dict(vars(monitor))
    try:
        _restore(monitor, state)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        vars(monitor).update(before)
        raise ValueError(f"the state is damaged: {error}") from error


def _restore(monitor: Monitor, state: State) -> None:
    monitor._n = state["n"]
    monitor.changes = [Change.from_dict(change) for change in state["changes"]]
    monitor._records = Records.restored(state["records"], effects(monitor.pdp))
    monitor._newest = newest_ice(monitor.pdp)
    monitor._watch = monitor._inquiry = monitor._detectors = None
    saved = state["watch"]
    if saved is not None:
        watch, inquiry = monitor.make_watch(saved["labels"], saved["outputs"], saved["n_points"])
        watch.restore(saved, monitor._records)
        inquiry.state = state["inquiry"]
    monitor._are_anew = monitor._detectors is not None


def _settings(monitor: Monitor) -> dict[str, Any]:
    """What two monitors must have in common to go on from each other's state."""
    detector = monitor.detector
    return {
        "statistic": monitor.statistic,
        "detector": None if detector is None else type(detector).__name__,
        "clock": monitor.clock,
    }
