"""`score_move`: why the mean prediction moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ipdp.comparison.periods import is_of_changed
from ipdp.comparison.score_parts import split_move
from ipdp.comparison.score_result import ScoreMove, ScorePart
from ipdp.comparison.sides import Side, When, is_one_model, sides_of
from ipdp.core.curve import Curve, feature_text
from ipdp.core.typing import Feature, Label
from ipdp.core.validation import unknown


def score_move(
    a: Any,
    b: Any = None,
    *,
    at: When = None,
    against: When = None,
    output: Label | None = None,
    same_model: bool | None = None,
    explainer: str | None = None,
    names: tuple[str, str] | None = None,
) -> ScoreMove:
    """Say why the mean prediction moved from a to b, feature by feature.

    Parameters
    ----------
    a, b
        What `ipdp.compare` takes: explainers, curves of all features, a log, the path of a run, a
        baseline. Without b, two times or periods of one log.
    at, against
        Of a log: its time, in observations, or a period as a pair of two times; `at` is that of a,
        `against` that of b.
    output
        Of several outputs which one; by default the second of two classes, or else the one that
        moved most beside its spread.
    same_model
        Whether both sides are of a model that has not changed; then no part is the model's. None
        takes it from the log, or from the explainers.
    explainer
        Of a log with several explainers with curves, which one.
    names
        What a and b are called.

    Returns
    -------
    A `ScoreMove`, whose parts add up to the move.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> rng = np.random.default_rng(1)
    >>> def model(x):
    ...     return 2 * x["u"] + x["v"] ** 2
    >>> X = rng.uniform(size=(1_000, 2))
    >>> Z = X + [0.5, 0.0]
    >>> one, other = (ipdp.partial_dependence(model, T, names=["u", "v"]) for T in (X, Z))
    >>> found = ipdp.score_move(one, other)
    >>> round(found.move, 2), found.parts[0].feature, round(found.parts[0].data, 2)
    (1.0, 'u', 1.0)
    """
    if b is None:
        if at is None and against is None:
            raise TypeError("score_move needs two: a and b, or a log and its times at and against")
        b = a
    sides = sides_of(a, b, at, against, explainer)
    features = _features(*sides)
    chosen = _output(*sides, features, output)
    if same_model is None:
        same_model = _is_same_model(*sides)
    one, other = (side.curves for side in sides)
    parts = split_move(one, other, features, chosen, same_model=same_model)
    listed = [ScorePart(f, parts.data[f], parts.model[f]) for f in features]
    known = other[features[0]]
    return ScoreMove(
        names=names or (sides[0].name, sides[1].name),
        output=chosen,
        output_text=known.output_text(chosen),
        before=parts.before,
        after=parts.after,
        std=max(_of(curves[features[0]], "prediction_std", chosen) for curves in (one, other)),
        parts=sorted(listed, key=lambda part: -part.size),
        level=parts.level,
        rest=parts.rest,
        same_model=same_model,
        follows_all=one[features[0]].follows_all and known.follows_all,
    )


def _features(a: Side, b: Side) -> list[Feature]:
    """The single features of both sides, which must be the same, or an error."""
    found = []
    for side in (a, b):
        # Regions and segments have their own data: the move is that of all observations.
        whole = {f: c for f, c in side.curves.items() if c.where is None}
        single = {f: c for f, c in whole.items() if len(c.grid_values) == 1 and c.outputs}
        if not single:
            raise ValueError(f"{side.name} has no curves of single features: there is no move")
        kinds = {curve.kind for curve in single.values()}
        if kinds != {"pdp"}:
            raise ValueError(
                f"{side.name} has accumulated local effects, which do not know the mean: give "
                "partial dependence"
            )
        if any(c.density is None or c.prediction is None for c in single.values()):
            raise ValueError(
                f"{side.name} does not hold mean predictions, which earlier versions did not keep: "
                "a move can be told from newer logs, baselines and states only"
            )
        found.append(single)
    if found[0].keys() != found[1].keys():
        one, other = (", ".join(map(feature_text, each)) for each in found)
        raise ValueError(
            f"both sides must have the same features: {a.name} has {one}, {b.name} {other}"
        )
    for feature, curve in found[0].items():
        if curve.categorical != found[1][feature].categorical:
            raise ValueError(f"{feature_text(feature)} has numbers on one side, categories on one")
    return list(found[0])


def _output(a: Side, b: Side, features: Sequence[Feature], wanted: Label | None) -> Label:
    one, other = (side.curves[features[0]] for side in (a, b))
    common = [output for output in one.outputs if output in other.outputs]
    if not common:
        raise ValueError(
            f"both sides must have a common output: {a.name} has {list(one.outputs)}, {b.name} "
            f"{list(other.outputs)}"
        )
    if wanted is not None:
        if wanted not in common:
            raise ValueError(unknown("output in both", wanted, common))
        return wanted
    if len(common) == 2 == len(one.outputs) and one.of_classes:
        return common[1]

    def moved(output: Label) -> float:
        spread = max(_of(curve, "prediction_std", output) for curve in (one, other))
        move = abs(_of(other, "prediction", output) - _of(one, "prediction", output))
        return move / spread if spread > 0 else math.inf if move else 0.0

    return max(common, key=moved)


def _of(curve: Curve, name: str, output: Label) -> float:
    return float(getattr(curve, name)[curve.outputs.index(output)])


def _is_same_model(a: Side, b: Side) -> bool:
    """Whether it is known that the model is one and the same."""
    if is_one_model(a, b):
        return True
    if a.explainer is None or b.explainer is None:
        return False
    return a.explainer.model is b.explainer.model and not _have_changed(a.curves, b.curves)


def _have_changed(*sides: Mapping[Feature, Curve]) -> bool:
    return any(is_of_changed(curve) for curves in sides for curve in curves.values())
