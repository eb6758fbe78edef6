"""What may be compared, as curves with what is known of where they come from."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ipdp.comparison.difference import Shares
from ipdp.comparison.periods import during, is_of_changed, with_errors_since
from ipdp.comparison.smoothness import Smoothness
from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.importance import Importance
from ipdp.core.link import Link
from ipdp.core.typing import Feature
from ipdp.explainers import Explainer
from ipdp.log import LogReader

When = float | tuple[float, float] | None
"""A time of a log, a period of it, or its end."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of two that are compared.

    Attributes
    ----------
    name
        What it is called.
    curves
        By feature.
    explainer
        Whose model can be asked, and about what; None if there is none.
    log
        The path of a log and the explainer in it.
    n
        Of a log, the number of observations at its time.
    smoothness
        Of a log, how fast its curves forget.
    period
        Of a log, from when to when; of one time None.
    learns
        Of a log, whether its model learned; None if it is not known.
    model
        Of a log of a model that did not learn, its checksum; None if there is none.
    """

    name: str
    curves: dict[Feature, Curve]
    explainer: Explainer | None = None
    log: tuple[Path, str] | None = None
    n: int = 0
    smoothness: Smoothness | None = None
    period: tuple[float, float] | None = None
    learns: bool | None = None
    model: str | None = None


def is_one_model(a: Side, b: Side) -> bool:
    """Whether two logs, or one, are known to be of one and the same model, which did not learn."""
    if a.log is None or b.log is None or a.learns is not False or b.learns is not False:
        return False
    return a.log == b.log or (a.model is not None and a.model == b.model)


def sides_of(a: Any, b: Any, at: When, against: When, explainer: str | None) -> tuple[Side, Side]:
    """Both sides of a comparison."""
    sides = side_of(a, at, explainer, "a"), side_of(b, against, explainer, "b")
    must_have_one_scale(*((s.name, {curve.link for curve in s.curves.values()}) for s in sides))
    if all(s.log is not None and s.log == sides[0].log and s.period is None for s in sides):
        return _two_times(*sides)
    return sides


def must_have_one_scale(a: tuple[str, set[Link | None]], b: tuple[str, set[Link | None]]) -> None:
    """Refuse two sides whose curves have different links; none where there is none."""
    if a[1] and b[1] and a[1] != b[1]:
        said = ", ".join(f"{name} has {_scale_text(own)}" for name, own in (a, b))
        raise ValueError(f"both sides must have one scale: {said}")


def _scale_text(links: set[Link | None]) -> str:
    return " and ".join(f"link={link}" if link else "no link" for link in sorted(links, key=str))


def _two_times(a: Side, b: Side) -> tuple[Side, Side]:
    """Two times of one log: the later one has the errors of what was seen since the earlier."""
    if a.log is None or a.smoothness is None or a.n == b.n:
        return a, b
    earlier, later = (a, b) if a.n < b.n else (b, a)
    path, explainer = a.log
    with LogReader(path) as reader:
        since, _ = during(reader, explainer, (earlier.n, later.n), a.smoothness)
    later = replace(later, curves=with_errors_since(later.curves, since))
    return (earlier, later) if earlier is a else (later, earlier)


def side_of(given: Any, when: When, explainer: str | None, name: str) -> Side:
    """One side of a comparison, from anything that has curves."""
    if isinstance(given, LogReader):
        return _of_log(given, when, explainer)
    if isinstance(given, (str, os.PathLike)):
        with LogReader(given) as reader:
            return _of_log(reader, when, explainer)
    if when is not None:
        raise ValueError(f"at and against are times of a log, and {name} is none: {given!r:.60}")
    if isinstance(given, Explainer):
        curves = _only_curves(given.results().values())
        return Side(getattr(given, "where", None) or name, curves, explainer=given)
    if hasattr(given, "must_fit"):  # a baseline
        return Side("the baseline", dict(given.curves))
    if isinstance(given, Curve):
        return Side(name, {given.feature: given})
    if isinstance(given, Mapping):
        given = given.values()
    if isinstance(given, Iterable):
        return Side(name, _only_curves(given))
    raise TypeError(
        "compare takes curves, explainers, logs, paths of runs and baselines, got "
        f"{type(given).__name__}"
    )


def _only_curves(results: Iterable[Any]) -> dict[Feature, Curve]:
    found = list(results)
    for result in found:
        if not isinstance(result, (Curve, Importance)):
            raise TypeError(f"compare takes curves, got {type(result).__name__} among them")
    return {result.feature: result for result in found if isinstance(result, Curve)}


def _of_log(reader: LogReader, when: When, explainer: str | None) -> Side:
    name = explainer or _with_curves(reader)
    settings = reader.settings
    described = settings.get("explainers")
    own = described.get(name) if isinstance(described, dict) else None
    own = own if isinstance(own, dict) else settings
    smoothness = Smoothness(own["alpha"], own.get("every") or 1) if "alpha" in own else None
    run = reader.path.parent.name if reader.path.name == "log.db" else reader.path.name
    known: dict[str, Any] = {"log": (reader.path.resolve(), name), "smoothness": smoothness}
    known["learns"], known["model"] = settings.get("learn"), settings.get("model_digest")
    if isinstance(when, tuple):
        if smoothness is None:
            raise ValueError(f"{reader.path} does not say its alpha: compare two times of it")
        curves, (first, last) = during(reader, name, when, smoothness)
        return Side(f"{run} from {first:,} to {last:,}", curves, period=(first, last), **known)
    n = _snapshot_at(reader, when, run)
    found = reader.at(n, name)
    return Side(f"{run} at {n:,}", _only_curves(found.values()), n=n, **known)


def _snapshot_at(reader: LogReader, when: float | None, run: str) -> int:
    """The time of the last snapshot at or before a time of the run."""
    times = [info.n for info in reader.snapshots()]
    if not times:
        raise NotEnoughSamples(f"{run} has no snapshot yet")
    end = max(times[-1], reader.status.n)
    if when is not None and end < when < math.inf:
        raise ValueError(f"{run} ends at {end:,}: there is nothing at {when:,.0f}")
    known = [n for n in times if when is None or n <= when]
    if not known:
        raise NotEnoughSamples(
            f"no snapshot at or before {when:,.0f}: the first of {run} is at {times[0]:,}"
        )
    return known[-1]


def _with_curves(reader: LogReader) -> str:
    """The first explainer of a log that gives curves."""
    for name in reader.explainers:
        if any(isinstance(result, Curve) for result in reader.at(math.inf, name).values()):
            return name
    raise ValueError(f"{reader.path} has no curves")


def shares(a: Side, b: Side, one: Curve, other: Curve) -> Shares:
    """How the errors of two curves add up in their difference.

    Those of one log share what the later one still remembers of the earlier one; the difference is
    that of the observations since then from those before, as far as they count. A model that has
    changed in between says something else about the same observations: then they are added as if
    they had nothing to do with each other, which is too much rather than too little.
    """
    if one is other:
        return Shares(0.0, 0.0)
    if a.log is None or a.log != b.log or a.smoothness is None:
        return Shares()
    is_moment = a.period is None and b.period is None
    if not is_moment or one.t is None or other.t is None:
        return Shares()
    if is_of_changed(one) or is_of_changed(other):
        return Shares()
    if one.t == other.t:
        return Shares(0.0, 0.0)
    earlier, later = (one, other) if one.t < other.t else (other, one)
    n = {c.t: float(np.median(c.n_effective_points)) for c in (one, other)}
    elapsed = abs(other.t - one.t)
    of_earlier, of_later = a.smoothness.shares(n[earlier.t], n[later.t], elapsed)
    return Shares(of_earlier, of_later) if earlier is one else Shares(of_later, of_earlier)
