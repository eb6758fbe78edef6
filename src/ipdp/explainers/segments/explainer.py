"""What an explainer of curves says of the groups of its observations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.jsonable import decode_name
from ipdp.core.parts import feature_where
from ipdp.core.typing import Feature, FeatureName, Label, Observation, State
from ipdp.core.validation import is_name, unknown, whole_number
from ipdp.core.words import shown
from ipdp.explainers.drawing import CurveExplainer, segments_display
from ipdp.explainers.segments.labels import By, label_text, name_of
from ipdp.explainers.segments.memory import SegmentsMemory
from ipdp.explainers.segments.reading import memory_of
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.snapshot import Snapshot
from ipdp.explainers.state.targets import as_features, check_columns
from ipdp.explainers.turns import in_turn
from ipdp.models.without import Without, takes


class Segmented(CurveExplainer):
    """An explainer of curves that has one for each group of observations, if it is asked to."""

    by: By | None = None
    n_groups: int = 20
    where: str | None = None
    """Which observations it is about, in words; None for all."""

    def _check_groups(self, by: By | None, n_groups: int) -> None:
        """Take the settings of the groups, or raise."""
        if not is_name(by):
            raise TypeError(f"by must be a column or a function, got {shown(by)}")
        self.by = by
        self.n_groups = whole_number("n_groups", n_groups)

    def _check_first(self, x: Observation) -> None:
        by = self.by
        if by is None or callable(by):
            super()._check_first(x)
            return
        if by not in x:
            raise ValueError(unknown("column to group by", by, list(x)))
        fitted = self.engine.feature_names
        rest = {name: value for name, value in x.items() if name != by}
        if fitted is None and not takes(self.engine, x) and takes(self.engine, rest):
            self.engine = Without(self.engine, by, tuple(x))
        is_seen = by in (self.engine.feature_names or x)
        check_columns(x if is_seen else rest, self.features, self.engine)

    @property
    def _is_hidden(self) -> bool:
        """Whether the model does not get the column that the groups are made by."""
        return isinstance(self.engine, Without)

    def _saved_memory(self, state: State) -> State | None:
        saved = super()._saved_memory(state)
        if saved is not None and self.by is not None and saved["groups"]["hidden"]:
            self._leave_out(self.by, decode_name(saved["columns"]))
        return saved

    def _leave_out(self, column: FeatureName, columns: Sequence[FeatureName]) -> None:
        if not isinstance(self.engine, Without):
            self.engine = Without(self.engine, column, columns)

    def hide(self) -> None:
        """Leave the column out of what the model gets, if that was found to be needed.

        The engine may have been exchanged since.
        """
        memory = self._memory
        if self.by is not None and memory is not None and memory.groups.hidden:
            self._leave_out(self.by, memory.columns)

    @property
    @in_turn
    def segments(self) -> dict[Label | None, Self]:
        """An explainer for each group, most frequent first, then `None`, that of missing values.

        What has no group of its own is in "others", the last.

        Examples
        --------
        >>> import ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], ["a"], by="b", grid=ipdp.grid.Fixed([0]))
        >>> for b in ["x", "y", "x", None]:
        ...     pdp.explain_one({"a": 1.0, "b": b})
        >>> list(pdp.segments)
        ['x', 'y', None]
        """
        return {label: self.segment(label) for label in self._groups()}

    @in_turn
    def segment(self, *labels: Label | None) -> Self:
        """The explainer of the observations of one group, or of several groups together.

        It can be read, drawn and compared like any other: `ipdp.compare(pdp.segment("AT"),
        pdp.segment("DE"))`. That of all groups together is that of all observations. It does not
        follow what this one explains later.

        Parameters
        ----------
        labels
            Values of `by`; None is the group of missing values, "others" that of the groups that
            are not followed.

        Examples
        --------
        >>> import ipdp
        >>> model = lambda x: x["a"] * x["b"]
        >>> pdp = ipdp.IncrementalPDP(model, ["a"], by="b", grid=ipdp.grid.Fixed([0, 1]))
        >>> for k in range(9):
        ...     pdp.explain_one({"a": 0.5, "b": k % 3})
        >>> pdp.segment(2).curve("a").average, pdp.segment(0, 1).curve("a").average.round(3)
        (array([[0., 2.]]), array([[0. , 0.5]]))
        """
        known = self._groups()
        for label in labels:
            if label not in known:
                raise ValueError(unknown(f"group of {name_of(self.by)}", label, known))
        if not labels:
            raise TypeError("segment needs a group, or several")
        rows = [self._memory.groups.labels.rows[label] for label in dict.fromkeys(labels)]
        part = self._segment_twin()
        part.where = f"{name_of(self.by)} = {' or '.join(map(label_text, dict.fromkeys(labels)))}"
        part._memory = memory_of(self._memory, rows, own_grids=True)
        return part

    def _segment_twin(self) -> Self:
        """An explainer with the same settings that does not tell groups apart."""
        settings = {**self.settings, **self._unsaved, "by": None, "n_past": 0}
        return type(self)(self.engine, **settings)

    def _groups(self) -> list[Label | None]:
        """The groups that there are, most frequent first, or an error."""
        if self.by is None:
            raise ValueError('there are no segments: give by, for instance by="country"')
        if self._memory is None:
            raise NotEnoughSamples("no observation yet: call explain_one first")
        assert isinstance(self._memory, SegmentsMemory)
        return self._memory.groups.by_size

    @in_turn
    def segment_curves(self, feature: Feature | None = None) -> dict[Label | None, list[Curve]]:
        """The smoothed curves of each group, in the order of `segments`.

        Parameters
        ----------
        feature
            One feature, or pair; by default all of them.

        Examples
        --------
        >>> import ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"], by="b", grid=ipdp.grid.Fixed([0, 1]))
        >>> pdp.explain_one({"a": 1.0, "b": 0})
        >>> pdp.segment_curves("a")
        {0: [Curve(feature='a, where b = 0', outputs=('prediction',), points=2, n_samples=1, t=1)]}
        """
        if feature is not None:
            [feature] = as_features([feature])
        return {label: list(self._curves_of(label, feature)) for label in self._groups()}

    def _curves_of(self, label: Label | None, feature: Feature | None) -> Iterator[Curve]:
        row = self._memory.groups.labels.rows[label]
        memory: CurveMemory = memory_of(self._memory, [row], own_grids=False)
        snapshot = Snapshot(memory)
        where = f"{name_of(self.by)} = {label_text(label)}"
        for number, target in enumerate(memory.targets):
            if target.n and feature in (None, target.feature):
                curve = self.on_scale(snapshot.curve(number, with_ice=False))
                yield replace(curve, feature=feature_where(target.feature, where), where=where)

    @in_turn
    def _segment_results(self) -> dict[Feature, Curve]:
        """The curves of all groups, by feature and group in words."""
        if self.by is None or self._memory is None:
            return {}
        found = [curve for curves in self.segment_curves().values() for curve in curves]
        return {curve.feature: curve for curve in found}

    def plot_segments(
        self, feature: Feature, ax: Any = None, *, most: int = 8, **options: Any
    ) -> Any:
        """Draw the curves of all groups of one feature in one picture.

        Parameters
        ----------
        feature
            A name that the explainer follows.
        ax
            Where to draw; None makes a new figure.
        most
            How many groups to draw at most, the most frequent ones.
        options
            Those of `ipdp.plot.SegmentsDisplay.plot`: `output`, `centred`, `band`, `backend`.

        Returns
        -------
        An `ipdp.plot.SegmentsDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.

        Examples
        --------
        >>> import ipdp
        >>> model = lambda x: x["a"] * x["b"]
        >>> pdp = ipdp.IncrementalPDP(model, ["a"], by="b", grid=ipdp.grid.Fixed([0, 1]))
        >>> for k in range(9):
        ...     pdp.explain_one({"a": 0.5, "b": k % 3})
        >>> pdp.plot_segments("a")
        SegmentsDisplay('a' by b: 2, 1, 0)
        """
        groups = self.segment_curves(feature)
        curves = {label_text(label): own[0] for label, own in groups.items() if own}
        if not curves:
            known = [target.feature for target in self._memory.targets]
            if feature not in known:
                raise ValueError(unknown("curve for", feature, known))
            raise NotEnoughSamples(f"there is no curve of {shown(feature)} yet")
        drawn = dict(list(curves.items())[: whole_number("most", most)])
        return segments_display(feature, drawn, name_of(self.by)).plot(ax, **options)
