"""How explainers of curves show themselves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ipdp.core.curve import Curve
from ipdp.core.errors import NotEnoughSamples
from ipdp.core.link import Link, on_scale
from ipdp.core.typing import Feature
from ipdp.core.words import shown
from ipdp.explainers.base import Explainer
from ipdp.explainers.state.targets import as_features
from ipdp.explainers.turns import in_turn
from ipdp.models.linked import on_link


class CurveExplainer(Explainer):
    """An explainer whose results are curves, which can be drawn all at once."""

    link: Link | None = None
    """On which scale the outputs of the model are; None for their own."""

    def _take_link(self, link: Link | None) -> None:
        """Have the model on the scale of a link, or raise."""
        self.engine = on_link(self.engine, link)
        self.link = self.engine.link

    @property
    def _link_settings(self) -> dict[str, Any]:
        return {} if self.link is None else {"link": self.link}

    def on_scale(self, curve: Curve) -> Curve:
        """A curve of what is remembered as it is shown; without a link they are the same."""
        return on_scale(curve, self.link, [self.engine.origin(label) for label in curve.outputs])

    @property
    @abstractmethod
    def curves(self) -> dict[Feature, Curve]:
        """A snapshot of every curve that there is by now, by feature."""

    def plot(self, ax: Any = None, *, most: int | None = 12, **options: Any) -> Any:
        """Draw the curves of all features, the most important one first.

        They are those of `results`: of the model as it is now where that can be told.

        Parameters
        ----------
        ax
            Axes whose place is divided among the panels; None makes a new figure, with a title.
        most
            How many features to draw at most; None for all of them.
        options
            Those of `ipdp.plot.OverviewDisplay.plot`: `target="price"` says what is predicted,
            `output="up"` picks a class, `features=[...]` picks features, `backend="plotly"` gives
            a figure of plotly.

        Returns
        -------
        An `ipdp.plot.OverviewDisplay`, which a notebook shows and `show()` opens in a window;
        `figure_.savefig("effects.png")` writes a file.

        Examples
        --------
        >>> import ipdp
        >>> pdp = ipdp.IncrementalPDP(lambda x: x["a"] + 3 * x["b"], grid=ipdp.grid.Fixed([0, 1]))
        >>> pdp.explain_one({"a": 0.5, "b": 0.5})
        >>> pdp.plot()
        OverviewDisplay(2 curves)
        """
        from ipdp.plot import OverviewDisplay

        curves = [curve for curve in self.results().values() if isinstance(curve, Curve)]
        if not curves:
            raise NotEnoughSamples(self.why_nothing)
        if not any(curve.outputs for curve in curves):
            raise NotEnoughSamples(
                f"nothing to draw: {type(self.model).__name__} has not given any prediction yet; "
                "was it taught (learn_one, fit)?"
            )
        return OverviewDisplay(curves).plot(ax=ax, most=most, **options)

    def plot_effect(
        self, feature: Feature, ax: Any = None, *, ale: Any = None, **options: Any
    ) -> Any:
        """Draw the curve of one feature with what it hides.

        Parameters
        ----------
        feature
            A name that the explainer follows.
        ax
            Where to draw; None makes a new figure.
        ale
            An `IncrementalALE` that has seen the same observations, or its curve: where the two
            part, the partial dependence asks about observations that do not occur.
        options
            Those of `ipdp.plot.EffectDisplay.plot`: `output`, `spread`, `backend`.

        Returns
        -------
        An `ipdp.plot.EffectDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.
        """
        from ipdp.plot import EffectDisplay

        with self.turns.reading():
            curve = self.with_off_data(self._curve_of(feature))
        other = ale._curve_of(feature) if isinstance(ale, CurveExplainer) else ale
        return EffectDisplay(curve, other).plot(ax, **options)

    def _curve_of(self, feature: Feature) -> Curve:
        """The curve of one feature as `results` has it, or an error."""
        found = self.results().get(as_features([feature])[0])
        if isinstance(found, Curve):
            return found
        raise NotEnoughSamples(f"there is no curve of {shown(feature)} yet")

    def with_off_data(self, curve: Curve) -> Curve:
        """The curve with the share of what it asks about observations that do not occur, if known.

        A figure with local effects beside it says so, and so do page and report.
        """
        return curve

    @property
    @in_turn
    def why_nothing(self) -> str:
        """What is missing before there is a curve, in words."""
        if self._memory is None:
            return "no observation yet: call explain_one(x), or explain_many(X), first"
        first = max(self._memory.targets, key=lambda target: target.n_values)
        return f"no curve yet: {first.why_no_curve}"

    def _repr_html_(self) -> str:
        from ipdp.plot import explainer_html

        return explainer_html(self)


def segments_display(feature: Feature, curves: dict[str, Curve], by: str) -> Any:
    """The curves of groups, ready to be drawn."""
    from ipdp.plot import SegmentsDisplay

    return SegmentsDisplay(feature, curves, by)
