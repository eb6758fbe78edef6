"""A model on the scale of a link."""

from __future__ import annotations

from collections.abc import Sequence

from ipdp.core.link import Link, checked_link, linked, origin, slope
from ipdp.core.typing import FeatureName, FloatArray, Label, Observation
from ipdp.models.base import Engine, Outputs
from ipdp.models.wrapped import Wrapped


class Linked(Wrapped):
    """Asks another engine, and gives its answers on the scale of a link, minus what 0 is there.

    Parameters
    ----------
    engine
        The engine that is asked.
    link
        "logit" for log-odds, "log" for logarithms.

    Examples
    --------
    >>> import ipdp
    >>> from ipdp.models.linked import Linked
    >>> asked = Linked(ipdp.models.engine(lambda x: x["a"]), "logit")
    >>> said = asked.predict([{"a": 0.5}, {"a": 0.0}]).values.ravel()
    >>> (said + asked.origin("prediction")).round(2)
    array([  0.  , -13.82])
    """

    def __init__(self, engine: Engine, link: Link) -> None:
        super().__init__(engine)
        self.link = link

    def _said(self, outputs: Outputs) -> Outputs:
        assert self.link is not None
        return Outputs(outputs.labels, linked(outputs.values, self.link))

    def gradients(
        self, observations: Sequence[Observation], names: Sequence[FeatureName]
    ) -> tuple[Outputs, FloatArray]:
        outputs, slopes = self.engine.gradients(observations, names)
        assert self.link is not None
        return self._said(outputs), slopes * slope(outputs.values, self.link)

    def origin(self, output: Label) -> float:
        del output  # it is the same for all
        assert self.link is not None
        return origin(self.link)

    @property
    def description(self) -> str:
        return f"{self.engine.description}, on the scale of {self.link}"


def on_link(engine: Engine, link: Link | None) -> Engine:
    """The engine with its answers on the scale of a link, if that is asked for."""
    link = checked_link(link)
    if link is None or engine.link == link:
        return engine
    if engine.link is not None:
        raise ValueError(
            f"link is {link!r}, and the model is on the scale of {engine.link} already"
        )
    return Linked(engine, link)
