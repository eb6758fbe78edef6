"""A monitor as plain lists and numbers, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipdp.monitor.change import Change
from ipdp.monitor.reading import effects, newest
from ipdp.monitor.records import Records
from ipdp.typing import State

if TYPE_CHECKING:
    from ipdp.monitor.monitor import Monitor


def save(monitor: Monitor) -> State:
    """Everything the monitor remembers, JSON-safe."""
    watch = monitor._watch
    return {
        "version": 1,
        "statistic": monitor.statistic,
        "n": monitor._n,
        "outputs": list(monitor._outputs),
        "quiet": [list(quiet) for quiet in monitor._quiet],
        "doubts": list(monitor._doubts),
        "wait": list(monitor._wait),
        "credit": monitor._credit,
        "records": monitor._records.state,
        "watch": None if watch is None else watch.state,
        "n_points": 0 if watch is None else watch.n_points,
        "watched": [] if watch is None else list(watch.outputs),
        "changes": [change.to_dict() for change in monitor.changes],
    }


def restore(monitor: Monitor, state: State) -> None:
    """Bring a monitor of the same settings to a saved state."""
    if state.get("version") != 1:
        raise ValueError(
            f"this is a state of version {state.get('version')!r}; this ipdp reads version 1"
        )
    if state["statistic"] != monitor.statistic:
        raise ValueError(
            f"the state was made with statistic = {state['statistic']!r}, this monitor has "
            f"{monitor.statistic!r}"
        )
    followed = effects(monitor.pdp)
    if state["watch"] is not None and not followed:
        raise ValueError("give the explainer its state first, then the monitor")
    monitor._n = state["n"]
    monitor._quiet = [(until, real, virtual) for until, real, virtual in state["quiet"]]
    monitor._doubts, monitor._wait = list(state["doubts"]), list(state["wait"])
    monitor._credit = state["credit"]
    monitor._outputs = tuple(state["outputs"])
    monitor.changes = [Change.from_dict(change) for change in state["changes"]]
    monitor._records, monitor._newest = Records(), None
    monitor._records.restore(state["records"], followed)
    reading = newest(monitor.pdp)
    if reading is not None:
        monitor._newest = reading.values
    monitor._watch = monitor._detectors = None
    if state["watch"] is not None and reading is not None:
        monitor.make_watch(state["watched"], reading, state["n_points"]).state = state["watch"]
