"""Why the mean prediction moved: a waterfall from the one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ipdp.core.validation import must_be_like
from ipdp.core.words import few_digits
from ipdp.plot.shown.display import NotebookDisplay
from ipdp.plot.shown.style import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ipdp.comparison import ScoreMove

# So many features have bars of their own, and letters of their names.
_BARS, _LETTERS = 10, 24
# A bar that is smaller than this share of the largest has no number.
_TOLD = 0.02


class ScoreMoveDisplay(NotebookDisplay):
    """The move of the mean prediction as a waterfall: each part goes on where the last one ended.

    Data parts and model parts of a feature are two bars of one row, in two colours.

    Parameters
    ----------
    move
        What `ipdp.score_move` gives.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_
        The bars, from top to bottom.

    Examples
    --------
    >>> import numpy as np, ipdp
    >>> from matplotlib.figure import Figure
    >>> X = np.random.default_rng(1).uniform(size=(1_000, 2))
    >>> def model(x):
    ...     return x["u"] + x["v"]
    >>> one, other = (ipdp.partial_dependence(model, T, names=["u", "v"]) for T in (X, X + 1))
    >>> display = ipdp.score_move(one, other).plot(ax=Figure().subplots())
    >>> len(display.bars_) >= 2
    True
    """

    ax_: Axes
    bars_: list[Any]

    def __init__(self, move: ScoreMove) -> None:
        must_be_like("move", move, "before", "a ScoreMove")
        self.move = move

    def plot(self, ax: Axes | None = None, *, backend: str = "matplotlib") -> Any:
        """Draw the waterfall.

        Parameters
        ----------
        ax
            Where to draw; None makes a new figure.
        backend
            As in `PDPDisplay.plot`, as what is returned.
        """
        return self._draw(backend, "score_move", shown_score_move(self.move), ax)

    def __repr__(self) -> str:
        return f"ScoreMoveDisplay({few_digits(self.move.move)})"


@dataclass(frozen=True)
class ShownBar:
    """One bar: in which row, from where to where, and of which kind."""

    row: int
    start: float
    end: float
    kind: str  # "data", "model" or "rest"


@dataclass(frozen=True)
class ShownScoreMove:
    """What is drawn of a move."""

    rows: list[str]  # from top to bottom; the first and the last are the two means
    texts: list[str]  # beside each row
    ends: list[float]  # where each row ends
    bars: list[ShownBar]
    before: float
    after: float
    label: str
    sentence: str


def shown_score_move(move: ScoreMove) -> ShownScoreMove:
    """What is drawn of a move."""
    rows, texts = [f"mean in {named(move.names[0], _LETTERS)}"], [few_digits(move.before)]
    bars: list[ShownBar] = []
    ends, at = [move.before], move.before
    steps = _steps(move)
    largest = max((abs(part) for _, parts in steps for _, part in parts), default=0.0)
    for name, parts in steps:
        for kind, size in parts:
            if size:
                bars.append(ShownBar(len(rows), at, at + size, kind))
            at += size
        total = sum(size for _, size in parts)
        rows.append(named(name, _LETTERS))
        texts.append(_signed(total) if abs(total) >= _TOLD * largest else "")
        ends.append(at)
    rows.append(f"mean in {named(move.names[1], _LETTERS)}")
    return ShownScoreMove(
        rows=rows,
        texts=[*texts, few_digits(move.after)],
        ends=[*ends, move.after],
        bars=bars,
        before=move.before,
        after=move.after,
        label=f"mean {named(move.output_text, 30)}",
        sentence=_sentence(move),
    )


def _steps(move: ScoreMove) -> list[tuple[str, list[tuple[str, float]]]]:
    """A name and its parts by kind for each row; small features are one."""
    found: list[tuple[str, list[tuple[str, float]]]] = []
    few = move.parts if len(move.parts) <= _BARS else move.parts[: _BARS - 1]
    for part in few:
        found.append((str(named(part.feature)), [("data", part.data), ("model", part.model)]))
    others = move.parts[len(few) :]
    if others:
        both = sum(p.data for p in others), sum(p.model for p in others)
        found.append((f"{len(others)} others", [("data", both[0]), ("model", both[1])]))
    if not move.same_model:
        found.append(("level", [("model", move.level)]))
    return [*found, (move.rest_text, [("rest", move.rest)])]


def _sentence(move: ScoreMove) -> str:
    first = move.parts[0] if move.parts else None
    text = f"{named(move.output_text, 30)}: mean {_signed(move.move)}"
    if first is None or not first.size:
        return text
    by_data = abs(first.data) >= abs(first.model)
    what = f"the {'data' if by_data else 'effect'} of {named(first.feature, _LETTERS)}"
    return f"{text}, most of all by {what}"


def _signed(value: float) -> str:
    text = few_digits(value)
    return text.replace("-", "\N{MINUS SIGN}") if value < 0 else f"+{text}"
