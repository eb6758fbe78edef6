"""Comparisons that a page asks for: two times of a run, two runs, a model and its challenger.

`ipdp.compare` and `paired` make them, so that the page says what `ipdp diff` says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ipdp.comparison import Comparison, Difference, compare
from ipdp.core.jsonable import readable
from ipdp.core.redaction import short_paths
from ipdp.log import LogReader
from ipdp.plot.shown.comparison import parts_beyond
from ipdp.runs.challengers import PREFIX, compared
from ipdp.web.payload import label, to_json
from ipdp.web.runs import Unreadable, explained
from ipdp.web.status import NotFound

# Answers that are kept, and for how many seconds: a log that goes on does not change at past times,
# but one that is taken back to an earlier time does.
_KEPT, _SECONDS = 32, 60.0


class Asked(NamedTuple):
    """What a page asks for.

    Attributes
    ----------
    run
        The log of the run.
    a, b
        Times; None for the end.
    other
        The log of the run that `b` is a time of; None for the same one.
    explainer
        Whose curves; None for the first.
    challenger
        Name of the challenger to compare the model with, at time `a`; None for none.
    """

    run: Path
    a: int | None = None
    b: int | None = None
    other: Path | None = None
    explainer: str | None = None
    challenger: str | None = None


class Comparisons:
    """Makes comparisons one at a time, and keeps them for a while; for any number of threads.

    A comparison reads at most some dozens of snapshots, however long the run is.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._kept: dict[Asked, tuple[float, bytes]] = {}

    def answer(self, asked: Asked) -> bytes:
        """A comparison as JSON; raises NotFound, or Unreadable with a sentence."""
        with self._lock:
            made, body = self._kept.pop(asked, (-_SECONDS, b""))
            if self.clock() - made >= _SECONDS:
                made, body = self.clock(), to_json(payload(_made(asked)))
            self._kept[asked] = made, body
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
            return body


def _made(asked: Asked) -> Comparison:
    with explained():
        try:
            if asked.challenger is not None:
                return _challenged(asked)
            b = asked.run if asked.other is None else asked.other
            return compare(asked.run, b, at=asked.a, against=asked.b, explainer=asked.explainer)
        except ValueError as error:
            raise Unreadable(short_paths(str(error))) from None


def _challenged(asked: Asked) -> Comparison:
    """The model and a challenger, on the same rows."""
    name = f"{PREFIX}{asked.challenger}"
    with LogReader(asked.run) as reader:
        if name not in reader.explainers:
            raise NotFound("this run has no challenger of that name")
        results = reader.at(float("inf") if asked.a is None else asked.a, name)
    found = compared({name: results})
    if not found:
        raise Unreadable("the challenger has no curves yet at this time")
    [comparison] = found.values()
    return comparison


def payload(found: Comparison) -> dict[str, Any]:
    """A comparison for the page: what is said, and what is drawn of each feature and output."""
    best = {id(found[feature]) for feature in found.features}
    return {
        "version": 1,
        "names": list(map(label, found.names)),
        "verdict": found.verdict,
        "heading": label(found.heading),
        "remarks": list(map(label, found.remarks)),
        "differences": [
            {**_difference(each), "best": id(each) in best} for each in found.differences
        ],
    }


def _difference(each: Difference) -> dict[str, Any]:
    is_drawn = len(each.places) == 1 and each.shape.size > 0
    places = each.places[0].tolist() if is_drawn else []
    arrays = {name: getattr(each, name) for name in ("a", "b", "shape", "half")}
    return {
        "name": label(each.feature),
        "output": label(each.output),
        "text": label(each.output_text),
        "verdict": each.verdict,
        "kind": each.kind,
        "level_verdict": each.level_verdict,
        "sentence": label(each.summary()),
        "where": each.place_text() and label(each.place_text()),
        "sizes": each.size_texts(),
        "categorical": each.categorical[0],
        "places": list(map(label, places)) if each.categorical[0] else readable(places),
        "parts": parts_beyond(each) if is_drawn else [],
        **readable({name: array if is_drawn else [] for name, array in arrays.items()}),
        **readable(
            {
                "margin": each.margin,
                "level": each.level,
                "level_half": each.level_half,
            }
        ),
    }
