"""The curves of training data in a small file, to compare production with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ipdp.comparison.between import compare
from ipdp.comparison.difference import Verdict
from ipdp.comparison.result import Comparison
from ipdp.comparison.sides import must_have_one_scale
from ipdp.core import packing, schema
from ipdp.core.curve import Curve, feature_text
from ipdp.core.files import read_plain, write_whole
from ipdp.core.importance import Result
from ipdp.core.link import Link
from ipdp.core.parts import without_parts
from ipdp.core.typing import Feature
from ipdp.core.validation import must_be_dict
from ipdp.explainers import Explainer
from ipdp.log.blobs import as_logged

_KIND, _VERSION = "baseline", 1


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a model said of its training data: curves with errors and ranges, in a small file.

    It takes the place of a table of reference. Nothing in the file is executed when it is read.

    Attributes
    ----------
    curves
        By feature, with the recent values of each but without ICE curves.

    Examples
    --------
    >>> import ipdp
    >>> pdp = ipdp.IncrementalPDP(lambda x: 2 * x["a"], alpha=None)
    >>> pdp.explain_many([{"a": k / 100} for k in range(500)])
    >>> baseline = ipdp.comparison.Baseline.from_bytes(pdp.baseline().to_bytes())
    >>> ipdp.compare(baseline, pdp)["a"].verdict
    'alike'
    """

    curves: dict[Feature, Curve]

    @classmethod
    def of(cls, given: Explainer | Mapping[Feature, Result]) -> Baseline:
        """That of an explainer, or of curves by feature."""
        results = given.results() if isinstance(given, Explainer) else given
        must_be_dict("what is no explainer", results)
        curves = {f: c for f, c in results.items() if isinstance(c, Curve) and c.outputs}
        if not curves and results:
            raise ValueError(
                "the model said nothing of the observations: a baseline is of one that has learnt"
            )
        if not curves:
            raise ValueError("there are no curves yet: a baseline needs observations")
        return cls({feature: _slim(curve) for feature, curve in curves.items()})

    @property
    def outputs(self) -> set[Any]:
        """The names of the outputs."""
        return {output for curve in self.curves.values() for output in curve.outputs}

    def to_bytes(self) -> bytes:
        """The baseline as bytes, some kilobytes for a feature."""
        curves = [curve.to_dict() for curve in self.curves.values()]
        return packing.pack({"kind": _KIND, "version": _VERSION, "curves": curves})

    @classmethod
    def from_bytes(cls, data: bytes) -> Baseline:
        """The baseline that gave these bytes; they are checked, and nothing in them is executed."""
        state = packing.unpack(data)
        if not isinstance(state, dict) or state.get("kind") != _KIND:
            raise ValueError("this is no baseline of ipdp, but something else that it has written")
        schema.must_be_version("a baseline", state.get("version"), _VERSION)
        try:
            with schema.intact("the baseline"):
                curves = [Curve.from_dict(each) for each in state["curves"]]
        except ValueError as error:
            raise ValueError(f"the baseline is damaged: {error}") from error
        if not curves:
            raise ValueError("the baseline is damaged: there are no curves in it")
        return cls({curve.feature: curve for curve in curves})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, as a whole; the path is given back."""
        write_whole(Path(path), self.to_bytes())
        return Path(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Baseline:
        """Read it from a file."""
        try:
            return cls.from_bytes(read_plain(Path(path)))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def must_fit(self, curves: Mapping[Feature, Curve]) -> None:
        """Refuse curves of a model with other features or outputs; groups may be on one side."""
        features = [curve.feature for curve in without_parts(curves.values())]
        self._must_have_features(features)
        more = [feature for feature in features if feature not in self.curves]
        if more:
            raise ValueError(_other_features("has", more, " more"))
        outputs = {output for curve in curves.values() for output in curve.outputs}
        if outputs != self.outputs:
            raise ValueError(self._other_outputs(outputs))

    def must_have(
        self, features: Iterable[Feature], outputs: Iterable[Any] = (), link: Link | None = None
    ) -> None:
        """Refuse a model without some feature of the baseline, or with another output or link.

        That much is known before there is a curve: `features` are those that may get one.
        """
        links = {curve.link for curve in self.curves.values()}
        must_have_one_scale(("the baseline", links), ("the run", {link}))
        self._must_have_features(features)
        if not self.outputs.issuperset(outputs):
            raise ValueError(self._other_outputs(outputs))

    def _must_have_features(self, features: Iterable[Feature]) -> None:
        theirs = set(features)
        own = [curve.feature for curve in without_parts(self.curves.values())]
        absent = [feature for feature in own if feature not in theirs]
        if absent:
            raise ValueError(_other_features("lacks", absent))

    def _other_outputs(self, outputs: Iterable[Any]) -> str:
        one, other = (", ".join(sorted(map(str, known))) for known in (self.outputs, outputs))
        return f"the baseline is of other outputs: {one}, not {other}"

    def __repr__(self) -> str:
        n = max(curve.n_samples for curve in self.curves.values())
        return f"Baseline({len(self.curves)} features, n_samples={n})"


def _other_features(verb: str, names: Sequence[Feature], end: str = "") -> str:
    listed = ", ".join(map(feature_text, names))
    return f"the baseline is of other features: what is compared with it {verb} {listed}{end}"


def _slim(curve: Curve) -> Curve:
    return replace(curve, ice=None, ice_grid_values=None, smoothed=None)


class Against:
    """Compares each snapshot of a run with a baseline, and says what is new.

    A listener of `ipdp.run`.

    Parameters
    ----------
    baseline
        What to compare with.
    say
        Takes a sentence whenever an effect or the level begins, or ceases, to be different.
    settings
        Those of `ipdp.compare`: `level`, `margin`.

    Attributes
    ----------
    comparison
        The newest one; None before the first snapshot.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.comparison import Against, Baseline
    >>> def model(x):
    ...     return x["a"]
    >>> pdp = ipdp.IncrementalPDP(lambda x: -x["a"], alpha=None)
    >>> pdp.explain_many([{"a": k % 9} for k in range(300)])
    >>> against = Against(pdp.baseline(), print)
    >>> pdp = ipdp.IncrementalPDP(model)
    >>> _ = ipdp.run([{"a": k % 9} for k in range(200)], model, pdp, listeners=[against],
    ...     learn=False)
    at 100, against the baseline: a: different: its effect on the prediction by up to 8, over 100
    standard errors, at 0, 1, 2, 3, 5, 6, 7, 8 (the model); level 8 higher (the model) (few
    observations yet)
    """

    def __init__(
        self, baseline: Baseline, say: Callable[[str], object] | None = None, **settings: Any
    ) -> None:
        self.baseline = baseline
        self._say, self._settings = say, settings
        self._known: dict[Any, Verdict] = {}  # by feature and output, and of the level
        self.comparison: Comparison | None = None

    def __call__(self, event: Any) -> None:
        """Take an event of a run; only snapshots count."""
        curves = getattr(event, "curves", None)
        if not curves:
            return
        names = "the baseline", f"the run at {event.n:,}"
        found = compare(self.baseline, as_logged(curves), names=names, **self._settings)
        self.comparison = found
        is_level_said = False
        for each in found.differences:
            if self._is_news((each.feature, each.output), each.verdict):
                self._tell(event.n, each.summary(), curves[each.feature].provisional)
                is_level_said |= each.level_verdict == "different"
        # It follows all other features, and is much the same for all of them: one sentence.
        if self._is_news(None, found.level_verdict) and not is_level_said:
            few = any(curve.provisional for curve in curves.values())
            self._tell(event.n, found.level_text or "level: alike", few)

    def _is_news(self, key: Any, verdict: Verdict) -> bool:
        """Whether something begins to be different, or turns out to be alike after that."""
        if verdict == "cannot say":
            return False
        before, self._known[key] = self._known.get(key, "alike"), verdict
        return verdict != before

    def _tell(self, n: int, sentence: str, few: bool) -> None:
        if self._say is not None:
            more = " (few observations yet)" if few else ""
            self._say(f"at {n:,}, against the baseline: {sentence}{more}")
