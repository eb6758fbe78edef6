"""The result that is passed everywhere: a snapshot of a feature's effect."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ipdp.core import schema
from ipdp.core.curve_bands import are_linked, are_probabilities, half_width, missing_ends
from ipdp.core.curve_frame import long_frame
from ipdp.core.curve_state import check_curve, curve_fields
from ipdp.core.heterogeneity import heterogeneity_of, interaction_of
from ipdp.core.interpolation import interpolation_weights, places
from ipdp.core.jsonable import readable
from ipdp.core.link import Link
from ipdp.core.output_names import PREDICTION, output_name
from ipdp.core.support import data_weights, deviation, supported_points
from ipdp.core.typing import Array, Feature, FloatArray, Label, State
from ipdp.core.words import shown

BY_OUTPUT = (
    "average",
    "std_error",
    "ice",
    "missing",
    "missing_std_error",
    "inflation",
    "degrees",
    "path_length",
    "centred_path_length",
    "centred_std_error",
    "smoothed",
    "ice_spread",
    "explained",
    "h_squared",
    "prediction",
    "prediction_std",
)
"""Arrays of a curve whose first axis is that of its outputs."""


def feature_text(feature: Feature) -> str:
    """A feature, or a pair of them, as it is written everywhere: on figures, pages and commands.

    Examples
    --------
    >>> feature_text("age"), feature_text(("age", "salary"))
    ('age', 'age*salary')
    """
    return "*".join(map(str, feature)) if isinstance(feature, tuple) else str(feature)


@dataclass(frozen=True, eq=False)
class Curve:
    """The partial dependence of a feature, or of a pair, at one time.

    Frozen and independent of the explainer it came from. Arrays have the shapes of scikit-learn's
    `partial_dependence`: outputs first, then one axis for each feature.

    Attributes
    ----------
    feature
        Name of the feature, or a tuple of two names.
    outputs
        Names of the outputs: the classes of a classifier, the targets of a regressor.
    grid_values
        For each feature a 1-D array: where on its axis the curve is known.
    average
        The curve, of shape (n_outputs, m) or (n_outputs, m1, m2).
    std_error
        Standard error of `average`, same shape, with the dependence between observations; NaN
        where it rests on one observation.
    n_samples
        Number of observations that were explained.
    n_effective_points
        How many observations are behind each point, given their weights, of shape (m,) or
        (m1, m2).
    categorical
        For each feature, whether its points are categories.
    t
        Time of the snapshot: number of observations seen, or the time given by the user.
    ice
        The most recent ICE curves, newest last: shape (n_outputs, n_ice, m) or (..., m1, m2). NaN
        where a curve was not evaluated at a point.
    ice_grid_values
        For each feature the positions of these ICE curves, of shape (n_ice, m); None where they
        are `grid_values`.
    rug
        For each feature, recent values of it; of a pair those that came together, at the same
        place.
    smoothed
        For a curve of the model as it is now: the mean of what the model said at the time of each
        observation, which lags behind a model that learns. Of the shape of `average`; None where
        `average` is that mean itself.
    missing, missing_std_error
        Mean output of the model when the feature is missing, of shape (n_outputs,); None
        unless the grid was asked for it.
    inflation
        How many observations are worth one independent one, of shape (n_outputs,); None where that
        is not known.
    degrees
        Degrees of freedom of `std_error`, of shape (n_outputs,); None for those of independent
        observations.
    path_length, centred_path_length
        How much the errors of neighbouring points differ, summed along the curve: the angles whose
        cosines are their correlations. Of shape (n_outputs,); None where they are not known.
    centred_std_error
        Standard error of the curve minus its mean over the points, of the shape of `average`.
    ice_spread
        How much the effect differs between observations: the standard deviation at each point of
        the ICE curves, each minus its own mean over the points. Of the shape of `average`; NaN
        where it rests on one observation, None where it is not known.
    explained
        The share of the variance of the predictions that all curves of one feature together account
        for, of shape (n_outputs,): see `ipdp.core.explained`. None where it is not known.
    h_squared
        Of a pair, Friedman's H²: the share of the variance of the surface that is not in the sum of
        the two features' own curves, of shape (n_outputs,), 0 if their effects add up; see
        `ipdp.core.h_statistic`. None where it is not known, as where the features are not followed.
    density
        The share of the observations at each point, with the weights of the curve, of the shape of
        the grid; one between two points is shared by them. What the sum lacks to 1 was missing.
        None of a pair, and where it is not known.
    off_data
        At each point the share of the observations that do not occur with that value, of the shape
        of the grid; None where that was not asked for, or is not known.
    prediction, prediction_std
        Mean and standard deviation of what the model said of the observations, of shape
        (n_outputs,), with the same weights; None where they are not known.
    follows_all
        Whether all features of the observations have a curve.
    provisional
        Whether the band is not to be trusted yet: the series is too short for its memory.
    kind
        "pdp" for a partial dependence, or "ale" for an accumulated local effect, which is relative
        to the mean over the data.
    where
        Which observations it is about, in words ("country = AT"), as in its name; None for all.
    times
        For each feature whether its values are times, in seconds since 1970; empty if none are.
    link
        The scale of the outputs: "logit" for log-odds, "log" for logarithms; None for their own.

    Examples
    --------
    >>> import numpy as np
    >>> curve = Curve(
    ...     feature="age",
    ...     outputs=("prediction",),
    ...     grid_values=[np.array([20.0, 40.0, 60.0])],
    ...     average=np.array([[1.0, 2.0, 6.0]]),
    ...     std_error=np.array([[0.1, 0.1, 0.2]]),
    ...     n_samples=500,
    ...     n_effective_points=np.array([400.0, 400.0, 400.0]),
    ... )
    >>> curve.at(50)
    array([4.])
    >>> curve.importance.round(3)
    array([2.646])
    """

    feature: Feature
    outputs: tuple[Label, ...]
    grid_values: list[Array]
    average: FloatArray
    std_error: FloatArray
    n_samples: int
    n_effective_points: FloatArray
    categorical: tuple[bool, ...] = (False,)
    t: float | None = None
    ice: FloatArray | None = None
    ice_grid_values: list[FloatArray] | None = None
    rug: list[Array] = field(default_factory=list)
    missing: FloatArray | None = None
    missing_std_error: FloatArray | None = None
    inflation: FloatArray | None = None
    degrees: FloatArray | None = None
    path_length: FloatArray | None = None
    centred_path_length: FloatArray | None = None
    centred_std_error: FloatArray | None = None
    provisional: bool = False
    smoothed: FloatArray | None = None
    ice_spread: FloatArray | None = None
    explained: FloatArray | None = None
    h_squared: FloatArray | None = None
    density: FloatArray | None = None
    off_data: FloatArray | None = None
    prediction: FloatArray | None = None
    prediction_std: FloatArray | None = None
    follows_all: bool = True
    kind: str = "pdp"
    where: str | None = None
    times: tuple[bool, ...] = ()
    link: Link | None = None

    @property
    def features(self) -> tuple[Feature, ...]:
        """The feature names as a tuple, also of a single feature."""
        return self.feature if isinstance(self.feature, tuple) else (self.feature,)

    @property
    def n_effective(self) -> float:
        """How many independent observations the curve is worth: its median point, and output."""
        points = self.n_effective_points
        if not points.size:
            return 0.0
        inflation = 1.0 if self.inflation is None else np.median(self.inflation)
        return float(np.median(points) / inflation)

    @property
    def importance(self) -> FloatArray:
        """How much the feature matters to each output (Greenwell et al. 2018), shape (n_outputs,).

        The standard deviation of the curve over the recent values (see `weights`); for a category
        a quarter of its range, which estimates the same. An effect that differs between
        observations and cancels in their mean is not seen: see `interaction`.
        """
        return deviation(self, self.weights)

    @property
    def interaction(self) -> FloatArray:
        """How much the effect differs between observations, shape (n_outputs,); NaN if unknown.

        The mean size of `ice_spread` over the recent values, in the units of `importance`: all that
        the feature does together with others, and what no curve of it alone can show.
        """
        return interaction_of(self)

    @property
    def heterogeneity(self) -> FloatArray:
        """The share of what the feature does that the curve does not show, shape (n_outputs,).

        Of its variance, in [0, 1]: 0 if the effect is the same for all observations, 1 if it
        cancels in their mean. See `interaction`.
        """
        return heterogeneity_of(self)

    @property
    def equal_importance(self) -> FloatArray:
        """The same with all points alike, as in the paper, wherever the data are."""
        return deviation(self, np.ones(self.weights.shape))

    @property
    def weights(self) -> FloatArray:
        """How much of the data is at each point, of the shape of the grid; the sum is 1.

        The share of the recent values, `rug`, that are nearest to the point; the same for all
        where there are fewer than 20 of them.
        """
        return data_weights(self)

    @property
    def supported(self) -> Array:
        """Which points have enough data behind them to be drawn in full, of the shape of the grid.

        Not those that were seldom evaluated, nor those of a number that are far from its recent
        values.
        """
        return supported_points(self)

    @property
    def overall_importance(self) -> float:
        """How much the feature matters to the output that it matters most to; 0 without outputs."""
        with np.errstate(all="ignore"):  # a curve may be infinite somewhere
            importance = self.importance
        return float(np.max(importance[~np.isnan(importance)], initial=0.0))

    @property
    def are_probabilities(self) -> bool:
        """Whether the outputs are the probabilities of classes, or effects on them.

        The newest ICE curve decides where there is one: an average may hold answers from before
        the model had met any class, which were all zero.
        """
        return self.link is None and self.outputs != PREDICTION and are_probabilities(self)

    @property
    def of_classes(self) -> bool:
        """Whether the outputs are the probabilities of classes, on whatever scale."""
        return self.are_probabilities or (self.outputs != PREDICTION and are_linked(self))

    @property
    def main_output(self) -> Label | None:
        """The output to show where there is room for one; None without outputs.

        Of two classes the second: the probabilities say the same. Else the output that the feature
        matters most to.
        """
        if not self.outputs:
            return None
        if len(self.outputs) == 2 and self.of_classes:
            return self.outputs[1]
        with np.errstate(all="ignore"):
            return self.outputs[int(np.argmax(np.nan_to_num(self.importance, nan=-1.0)))]

    def output_text(self, output: Label | None, target: str | None = None) -> str:
        """What the numbers of an output are: "chance of True", "predicted price".

        With the name of the target "chance that churned is True"; with a link "log-odds of True";
        of an accumulated local effect the effect on that. None are all outputs together.
        """
        text = output_name(output, is_chance=self.of_classes, target=target, link=self.link)
        return f"effect on the {text}" if self.kind == "ale" else text

    def band(
        self, level: float = 0.95, *, simultaneous: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Confidence band of the curve.

        While model and data stay as they are, the partial dependence at a point lies in the band
        with this probability; that of the whole curve at once, if the band is simultaneous. The
        memory of the series (autocorrelation, cycles) is taken into account, as far as the curve
        has seen it: where `provisional` is true, it has not seen enough.

        Parameters
        ----------
        level
            The probability.
        simultaneous
            Whether the band is to cover all points at once.

        Returns
        -------
        Lower and upper end, of the shape of `average`.

        Examples
        --------
        >>> import numpy as np
        >>> curve = Curve(
        ...     feature="age",
        ...     outputs=("prediction",),
        ...     grid_values=[np.array([20.0, 40.0])],
        ...     average=np.array([[1.0, 2.0]]),
        ...     std_error=np.array([[0.1, 0.1]]),
        ...     n_samples=500,
        ...     n_effective_points=np.array([400.0, 400.0]),
        ... )
        >>> curve.band()[1].round(2)
        array([[1.2, 2.2]])
        >>> curve.band(simultaneous=True)[1].round(2)
        array([[1.22, 2.22]])
        """
        half = half_width(self, level, simultaneous=simultaneous)
        return self.average - half, self.average + half

    def missing_band(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Confidence band of `missing`: two ends of shape (n_outputs,), NaN where it is not known.

        `level` is that of `band`. The curve does not say how many observations are behind this
        point: many are assumed.
        """
        return missing_ends(self, level)

    def at(self, x: Any) -> FloatArray:
        """The curve between its points.

        Parameters
        ----------
        x
            A value, or several; for a pair, a tuple of two values, or of two sequences.

        Returns
        -------
        Shape (n_outputs,) for one value, (n_outputs, n) for n. Linear between points; NaN outside
        of the grid, where nothing is known.
        """
        n_axes = len(self.grid_values)
        positions = places(x) if n_axes > 1 and np.iterable(x) else places([x])
        if len(positions) != n_axes:
            raise ValueError(f"{self.feature!r} needs {n_axes} values, got {len(positions)}")
        single = all(np.ndim(position) == 0 for position in positions)
        weights = [
            interpolation_weights(axis, np.atleast_1d(position), categorical)
            for axis, position, categorical in zip(
                self.grid_values, positions, self.categorical, strict=True
            )
        ]
        if n_axes == 1:
            values = self.average @ weights[0].T
        else:
            values = np.einsum("oij,ni,nj->on", self.average, *weights)
        return values[:, 0] if single else values

    def select(self, output: Label) -> Curve:
        """The same curve with one output only."""
        if output not in self.outputs:
            raise ValueError(f"no output {shown(output)}: the curve has {list(self.outputs)}")
        k = self.outputs.index(output)
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in BY_OUTPUT:
            if values[name] is not None:
                values[name] = values[name][k : k + 1]
        return Curve(**{**values, "outputs": (output,)})

    def to_dict(self) -> State:
        """A JSON-safe dict; `from_dict` gives the curve back."""
        plain = {item.name: readable(getattr(self, item.name)) for item in fields(self)}
        return {**plain, "version": 1}

    @classmethod
    def from_dict(cls, state: State) -> Curve:
        """The curve that gave this dict."""
        with schema.intact("the curve"):
            fields = curve_fields(state)
            check_curve(fields)
        return cls(**fields)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """A long frame: one row for each output and point.

        Parameters
        ----------
        backend
            Library of the frame, as narwhals names it: "pandas", "polars" or "pyarrow".

        Returns
        -------
        A frame with a column for each feature, then `output`, `average` and `std_error`.
        """
        return long_frame(self, backend)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curve; see `ipdp.plot.PDPDisplay.plot` for the options.

        Returns
        -------
        An `ipdp.plot.PDPDisplay`; with `backend="plotly"` a `plotly.graph_objects.Figure`.
        """
        from ipdp.plot import PDPDisplay

        return PDPDisplay(self).plot(ax=ax, **style)

    def _repr_html_(self) -> str:
        from ipdp.plot import curve_html

        return curve_html(self)

    def __repr__(self) -> str:
        shape = " x ".join(str(len(axis)) for axis in self.grid_values)
        return (
            f"Curve(feature={self.feature!r}, outputs={self.outputs!r}, points={shape}, "
            f"n_samples={self.n_samples}, t={self.t})"
        )
