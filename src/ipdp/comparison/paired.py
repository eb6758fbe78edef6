"""Champion and challenger: two models on the same rows, and the mean difference of what they say.

Two bands say little about two models that were asked about the same observations: most of their
errors is the same. What counts is the error of the difference itself. So both are asked about each
row, and the difference of their ICE curves is followed like the curves themselves, with its own
memory and its own band.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ipdp.comparison.between import SHARE
from ipdp.comparison.difference import Difference, Shares, difference
from ipdp.comparison.errors import output_variance
from ipdp.comparison.result import Comparison
from ipdp.core.curve import Curve
from ipdp.core.importance import Result
from ipdp.core.output_names import output_name
from ipdp.core.parts import without_parts
from ipdp.core.typing import Feature, FloatArray, Label, Observation
from ipdp.explainers import Explainer, IncrementalPDP
from ipdp.models import Engine, engine
from ipdp.models.base import Outputs, Probe
from ipdp.models.linked import on_link

_CHAMPION, _CHALLENGER, _APART = PARTS = ("champion: ", "challenger: ", "difference: ")
"""What the outputs of both models, and of their difference, begin with."""


class PairedEngine(Engine):
    """Asks two models, and gives the outputs of both and what the second says more.

    Parameters
    ----------
    champion, challenger
        Engines of the two; their outputs have the same names.

    Examples
    --------
    >>> from ipdp.models import engine
    >>> both = PairedEngine(engine(lambda x: x["a"]), engine(lambda x: 3 * x["a"]))
    >>> both.predict([{"a": 1.0}]).values.ravel()
    array([1., 3., 2.])
    """

    def __init__(self, champion: Engine, challenger: Engine) -> None:
        self.champion, self.challenger = champion, challenger
        self.model = champion.model
        self.ordered = champion.ordered or challenger.ordered
        self.link = champion.link

    def origin(self, output: Label) -> float:
        # The same is in both, and not in their difference.
        return 0.0 if str(output).startswith(_APART) else self.champion.origin(output)

    def ice(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        asked = observations, probes, positions
        return _joined(self.champion.ice(*asked), self.challenger.ice(*asked))

    def ice_again(
        self, observations: Sequence[Observation], probes: Sequence[Probe], positions: FloatArray
    ) -> Outputs:
        asked = observations, probes, positions
        return _joined(self.champion.ice_again(*asked), self.challenger.ice_again(*asked))

    def predict(self, observations: Sequence[Observation]) -> Outputs:
        both = self.champion.predict(observations), self.challenger.predict(observations)
        return _joined(*both)

    @property
    def description(self) -> str:
        return f"{self.champion.description}, beside {self.challenger.description}"


def _joined(one: Outputs, other: Outputs) -> Outputs:
    """The outputs of both and their difference; a class that one has not met is 0 there."""
    names = [
        range(out.values.shape[1]) if out.labels is None else out.labels for out in (one, other)
    ]
    labels = list(dict.fromkeys([*names[0], *names[1]]))
    parts = []
    for known, out in zip(names, (one, other), strict=True):
        values = np.zeros((out.values.shape[0], len(labels), out.values.shape[2]))
        for k, label in enumerate(known):
            values[:, labels.index(label)] = out.values[:, k]
        parts.append(values)
    values = np.concatenate([*parts, parts[1] - parts[0]], axis=1)
    return Outputs(tuple(f"{part}{label}" for part in PARTS for label in labels), values)


def challenge(pdp: IncrementalPDP, model: Any) -> IncrementalPDP:
    """An explainer that follows another model beside that of a given one, row by row.

    Parameters
    ----------
    pdp
        The explainer of the champion, whose settings it takes.
    model
        The challenger: anything that `ipdp.models.engine` takes.

    Returns
    -------
    An explainer with the curves of both models and of their difference; `paired` compares them.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> from ipdp.comparison import challenge, paired
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] + x["b"], alpha=0.01)
    >>> both = challenge(pdp, lambda x: 1.2 * x["a"] + x["b"])
    >>> both.explain_many(np.random.default_rng(1).normal(size=(400, 2)), names=["a", "b"])
    >>> [each.feature for each in paired(both).different]
    ['a']
    """
    asked = PairedEngine(pdp.engine, on_link(engine(model), pdp.link))
    return type(pdp)(asked, **pdp.settings, n_ice=0, n_past=pdp.n_past, seed=pdp.seed)


def paired(
    given: Explainer | Mapping[Feature, Result],
    *,
    level: float = 0.95,
    margin: float | None = None,
    names: tuple[str, str] = ("champion", "challenger"),
) -> Comparison:
    """Compare two models by the difference of what they said of the same rows.

    Parameters
    ----------
    given
        What `challenge` gave, or its results.
    level, margin, names
        As in `ipdp.compare`; the margin is a tenth of the standard deviation of the champion's
        predictions.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> from ipdp.comparison import challenge, paired
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] + x["b"], alpha=0.01)
    >>> both = challenge(pdp, lambda x: x["a"] - x["b"])
    >>> both.explain_many(np.random.default_rng(1).normal(size=(400, 2)), names=["a", "b"])
    >>> comparison = paired(both)
    >>> [each.feature for each in comparison.different]
    ['b']
    """
    results = given.results() if isinstance(given, Explainer) else given
    every = [c for c in results.values() if isinstance(c, Curve) and c.outputs]
    # Each curve more makes the bands of all wider: groups are left out, as by `compare`.
    curves = {curve.feature: curve for curve in without_parts(every)}
    outputs = _outputs(curves)
    if not outputs:
        raise ValueError("these are no curves of two models: make them with challenge(pdp, model)")
    outside = (1 - level) / (2 * len(curves) * len(outputs))
    found = [
        _difference(curve, output, _margin(curves, output) if margin is None else margin, outside)
        for curve in curves.values()
        for output in outputs
    ]
    short = any(curve.provisional for curve in curves.values())
    notes = ["both models were asked about the same rows"]
    notes += ["bands are provisional: few observations yet"] if short else []
    return Comparison(names=names, differences=found, level=level, notes=notes)


def is_paired(results: Mapping[Feature, Result]) -> bool:
    """Whether these are results of what `challenge` gave, and `paired` can compare them.

    Examples
    --------
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"])
    >>> both = challenge(pdp, lambda x: 2 * x["a"])
    >>> both.explain_many([{"a": k / 10} for k in range(100)])
    >>> is_paired(both.results()), is_paired({})
    (True, False)
    """
    curves = [result for result in results.values() if isinstance(result, Curve)]
    return any(str(label).startswith(_CHAMPION) for c in curves for label in c.outputs)


def _outputs(curves: Mapping[Feature, Curve]) -> list[str]:
    """The names of the models' own outputs; of two classes the second."""
    first = max(curves.values(), key=lambda curve: len(curve.outputs), default=None)
    if first is None:
        return []
    texts = [str(label) for label in first.outputs]
    own = [text.removeprefix(_CHAMPION) for text in texts if text.startswith(_CHAMPION)]
    return own[1:] if len(own) == 2 and _are_chances(first) else own


def _are_chances(curve: Curve) -> bool:
    """Whether the outputs of the champion are probabilities of classes."""
    own = [k for k, label in enumerate(curve.outputs) if str(label).startswith(_CHAMPION)]
    if len(own) < 2:
        return False
    names = tuple(str(curve.outputs[k]).removeprefix(_CHAMPION) for k in own)
    return replace(curve, outputs=names, average=curve.average[own], ice=None).of_classes


def _output_text(curve: Curve, output: str) -> str:
    return output_name(output, is_chance=_are_chances(curve), link=curve.link)


def _margin(curves: Mapping[Feature, Curve], output: str) -> float:
    label = f"{_CHAMPION}{output}"
    known = [output_variance(c.select(label))[0] for c in curves.values() if label in c.outputs]
    return SHARE * math.sqrt(float(np.median(known)))


def _difference(curve: Curve, output: str, margin: float, outside: float) -> Difference:
    apart, champion = (curve.select(f"{part}{output}") for part in (_APART, _CHAMPION))
    settings: dict[str, Any] = {"margin": margin, "outside": outside, "shares": Shares(0.0, 1.0)}
    nothing = replace(apart, average=np.zeros_like(apart.average))
    found = difference(nothing, apart, output=apart.outputs[0], **settings)
    # The champion at the same places: those with data behind them.
    none = replace(champion, average=nothing.average)
    a = difference(none, champion, output=champion.outputs[0], **settings).b
    return replace(
        found,
        output=output,
        output_text=_output_text(curve, output),
        a=a,
        b=a + found.b,
        kind="model" if found.verdict == "different" else None,
        level_kind="model" if found.level_verdict == "different" else None,
    )
