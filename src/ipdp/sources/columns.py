"""The columns of a source: which of them are used, and of which kind they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ipdp.core.validation import unknown
from ipdp.sources.values import BadRecord, Kind, typed_text, typed_value


class Columns:
    """Makes observations of records, each column with values of one kind.

    Parameters
    ----------
    target
        Name of the column that is y; None: there is none.
    features
        Names of the columns that are x; None: all but the target.
    drop
        Names of columns that are not in x.
    kinds
        Kinds of columns that were declared.
    """

    def __init__(
        self,
        target: str | None,
        features: Sequence[str] | None,
        drop: Sequence[str],
        kinds: Mapping[str, Kind],
    ) -> None:
        self.target = target
        self.features = None if features is None else tuple(features)
        self.drop = frozenset(drop)
        self.declared = dict(kinds)
        self.kinds: dict[str, Kind | None] = dict(kinds)
        self.names: tuple[str, ...] | None = None
        self._places: list[tuple[int, str]] = []

    def start(self, names: Iterable[str]) -> None:
        """Choose among the columns that there are."""
        there = list(names)
        for name in (self.target, *(self.features or ()), *self.drop):
            if name is not None and name not in there:
                raise BadRecord(unknown("column", name, there))
        chosen = there if self.features is None else self.features
        self.names = tuple(n for n in chosen if n != self.target and n not in self.drop)
        if not self.names:
            raise BadRecord("there is no column left for x beside the target")
        wanted = self.names if self.target is None else (*self.names, self.target)
        self._places = [(there.index(name), name) for name in wanted]

    def of_texts(self, fields: Sequence[str]) -> tuple[dict[str, Any], Any]:
        """The observation of a row of texts in the order of the columns."""
        kinds = self.kinds
        row: dict[str, Any] = {}
        decided: dict[str, Kind | None] = {}
        for place, name in self._places:
            text = fields[place].strip()
            known = kinds.get(name)
            try:
                value, kind = typed_text(text, known, is_declared=name in self.declared)
            except BadRecord as error:
                raise BadRecord(f"{name}: {error}{_hint(known)}") from None
            row[name] = value
            if kind is not known:
                decided[name] = kind
        return self._done(row, decided)

    def of_values(self, record: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The observation of a record of values by name; the first one determines the columns."""
        if self.names is None:
            self.start(record)
        row: dict[str, Any] = {}
        decided: dict[str, Kind | None] = {}
        for _, name in self._places:
            if name not in record:
                raise BadRecord(f"there is no {name!r}; a missing value is null")
            known = self.kinds.get(name)
            try:
                value, kind = typed_value(record[name], known, is_declared=name in self.declared)
            except BadRecord as error:
                raise BadRecord(f"{name}: {error}{_hint(known)}") from None
            row[name] = value
            if kind is not known:
                decided[name] = kind
        return self._done(row, decided)

    def _done(
        self, row: dict[str, Any], decided: dict[str, Kind | None]
    ) -> tuple[dict[str, Any], Any]:
        # Only now is the record known to be valid: an invalid one decides nothing.
        self.kinds.update(decided)
        y = None if self.target is None else row.pop(self.target)
        return row, y

    # For the position of a source.

    @property
    def state(self) -> dict[str, Any]:
        """Columns and kinds so far, JSON-safe."""
        names = None if self.names is None else list(self.names)
        return {"columns": names, "kinds": {n: k for n, k in self.kinds.items() if k}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with the columns and kinds of a `state`."""
        names = state["columns"]
        if self.names is not None and names is not None and list(self.names) != names:
            raise BadRecord(
                f"the columns are {', '.join(self.names)} now and were {', '.join(names)}"
            )
        if self.names is None and names is not None:
            self.start([*names, *([self.target] if self.target else []), *self.drop])
        self.kinds = {**state["kinds"], **self.declared}


def _hint(kind: Kind | None) -> str:
    return ", and the values before it were (declare the column as text if not)" if kind else ""
