"""What was understood of the data and the model of a run, and what smells, in sentences."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ipdp.core.words import counted, few_digits, listed
from ipdp.runs.fitting import Fitting
from ipdp.sources import Source
from ipdp.sources.profile import Profile

# So many labels that are all the same are no accident.
_CONSTANT = 50
# A model is of no use whose error is so many times as large as the range of the target.
_FAR = 3.0


def understood(source: Source, model: Any, made: Fitting, time: str | None = None) -> list[str]:
    """What was understood of the observations that were seen first; warnings after it.

    `time` is the column of the run's clock.
    """
    profile = Profile(source.first, source.target, time)
    if not profile.rows:
        return []
    said = [f"Understood from {profile.sentence()}.", *made.sentences()]
    return said + [f"Look: {warning}." for warning in smells(profile, model, made.without)]


def smells(profile: Profile, model: Any, without: Sequence[str] = ()) -> Iterator[str]:
    """What is probably not meant, each with what to do; the model gets no column `without`."""
    commas = profile.decimal_commas
    if commas:
        what = f"numbers with decimal commas (such as {profile.columns[commas[0]][0]})"
        yield f"{listed(commas)} {_holds(commas)} {what}, read as text (--decimal ,)"
    for name in profile.indices:
        yield f"{name} is the index of a pandas frame (--drop {name})"
    yield from _columns(profile, without)
    yield from _labels(profile, model)


def _columns(profile: Profile, without: Sequence[str]) -> Iterator[str]:
    others = [name for name in profile.ids if name not in (*profile.indices, *without)]
    if others:
        dropped = shlex.quote(",".join(others))
        # In one trial it cost a forest ten times the processor and 15 points of accuracy.
        yield (
            f"the model gets {listed(others)}, which looks like an id: it is of no use to a model, "
            f"and a tree gets slow and worse by it (--drop {dropped} leaves it out)"
        )
    yield from _times(profile, without)


def _times(profile: Profile, without: Sequence[str]) -> Iterator[str]:
    clocks = [name for name in profile.clocks if name not in without]
    if clocks:
        name = shlex.quote(clocks[0])
        cure = f"--time {name} puts it on the axes and not into the model"
        if profile.time is not None:
            cure = f"--drop {shlex.quote(','.join(clocks))} leaves it out"
        yield f"the model gets {listed(clocks)}, which looks like a clock ({cure})"
    elif profile.clocks and profile.time is None:
        name = profile.clocks[0]
        yield f"{name} looks like a clock (--time {shlex.quote(name)} puts it on the axes)"
    dates = [name for name in profile.dates if name not in without]
    if dates:
        yield (
            f"{listed(dates)} {_holds(dates)} dates, which the model gets as text: give it numbers "
            f"instead, such as days since (--drop {shlex.quote(','.join(dates))} leaves it out)"
        )


def _labels(profile: Profile, model: Any) -> Iterator[str]:
    labels, kind = profile.labels, _kind(model)
    name = profile.target or "the target"
    if len(labels) >= _CONSTANT and len(set(labels)) == 1:
        yield f"{name} is {labels[0]!r} in all of the first {counted(len(labels), 'row')}"
    if kind == "classifier" and profile.is_continuous:
        yield (
            f"the model is a classifier and {name} is a number (such as {few_digits(labels[0])}): "
            "every value would be a class of its own; take a regressor"
        )
    if kind == "regressor" and any(isinstance(y, str) for y in labels):
        text = next(y for y in labels if isinstance(y, str))
        yield f"the model is a regressor and {name} is text ({text!r}): take a classifier"


def divergence(profile: Profile, scores: Mapping[str, float]) -> str | None:
    """A sentence if a regressor is further off than the whole target is wide."""
    error = scores.get("MAE")
    if error is None or not profile.is_continuous:
        return None
    wide = max(profile.labels) - min(profile.labels)
    if math.isfinite(error) and error <= _FAR * wide:
        return None
    for name, recent in scores.items():
        _, is_recent, width = name.partition("MAE_")
        if is_recent and recent <= _FAR * wide:
            return (
                f"Look: the average error over all is {few_digits(error)}, over the last "
                f"{int(width):,} {few_digits(recent)}: some answers before were far out, and the "
                "average of all tells little."
            )
    return (
        f"Look: the average error is {few_digits(error)}, and the first "
        f"{counted(len(profile.labels), 'label')} lie within {few_digits(wide)}: the model "
        "diverges; scale the target (river.preprocessing.TargetStandardScaler(...))."
    )


def _holds(names: list[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


def _kind(model: Any) -> str | None:
    """Whether a model is a classifier or a regressor, as river and scikit-learn know it."""
    river, sklearn = sys.modules.get("river.base"), sys.modules.get("sklearn.base")
    if river is not None and isinstance(model, river.Estimator):
        if isinstance(model, river.Classifier):
            return "classifier"
        return "regressor" if isinstance(model, river.Regressor) else None
    if sklearn is None or not hasattr(model, "fit"):
        return None
    if sklearn.is_classifier(model):
        return "classifier"
    return "regressor" if sklearn.is_regressor(model) else None
