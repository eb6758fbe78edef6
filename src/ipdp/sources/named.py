"""Data sets by name, and anything else that can be iterated over from the start."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl

from ipdp.models.load import load_object
from ipdp.sources.base import Source, SourceError
from ipdp.sources.columns import BadRecord

_SEED = 42


class CountedSource(Source):
    """Anything that gives (x, y) from the start each time it is iterated over.

    Its position is a count: to go on, what was given out before is passed over. Names of features
    are texts, as in files, also where the stream has numbers.

    Parameters
    ----------
    stream
        The iterable, such as a data set of river.
    name
        What it is called in messages.
    **options
        As in `Source`; the target is the stream's own.

    Examples
    --------
    >>> from river.datasets import synth
    >>> from ipdp.sources import CountedSource
    >>> source = CountedSource(synth.SEA(seed=1).take(3), "SEA", limit=2)
    >>> len(list(source)), source.n
    (2, 2)
    """

    def __init__(self, stream: Iterable[Any], name: str, **options: Any) -> None:
        if options.pop("target", None) is not None:
            raise SourceError(f"the data set {name} has a target of its own: give none")
        super().__init__(name, **options)
        self._stream = stream

    @property
    def target(self) -> str | None:
        from ipdp.datasets import TARGETS

        return TARGETS.get(self.name.partition("?")[0])

    @property
    def is_labelled(self) -> bool:
        return True

    @property
    def _total(self) -> int | None:
        return getattr(self._stream, "n_samples", None)

    def _observations(self) -> Iterator[tuple[dict[str, Any], Any]]:
        rows = enumerate(self._stream, start=1)
        while not self._is_interrupted:
            try:
                number, (x, y) = next(rows)
            except StopIteration:
                return
            except (ValueError, TypeError, OSError) as error:
                raise SourceError(f"{self.name}: {error}") from None
            if number <= self.n:
                continue  # given out before `seek`
            try:
                x, _ = self.columns.of_values({str(name): value for name, value in x.items()})
            except BadRecord as error:
                raise SourceError(f"{self.name}, observation {number:,}: {error}") from None
            yield x, y

    def _where(self) -> dict[str, Any]:
        return {}

    def _go(self, position: Mapping[str, Any]) -> None: ...


def named_stream(spec: str) -> Iterable[Any] | None:
    """The data set that a word names: one of `ipdp.datasets`, or an import path of river's.

    Generated ones of `ipdp.datasets` take the seed 42 unless another is given: a run that is
    resumed must meet the same stream again. None if the word has neither form.
    """
    if spec.endswith(")"):
        stream: Iterable[Any] = load_object(spec, within=["river.datasets.synth", "river.datasets"])
        if not hasattr(stream, "__iter__"):
            raise SourceError(f"{spec} is not a data set: it cannot be iterated over")
        return stream
    from ipdp.datasets import DATASETS, load

    name, _, query = spec.partition("?")
    if name not in DATASETS:
        return None
    settings = {key: _literal(value) for key, value in parse_qsl(query, keep_blank_values=True)}
    if "seed" in inspect.signature(DATASETS[name]).parameters:
        settings.setdefault("seed", _SEED)
    try:
        return load(name, **settings)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise SourceError(str(error)) from None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # nested too deeply
        return text
