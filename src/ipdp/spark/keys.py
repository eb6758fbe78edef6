"""What a fleet wrote, key by key: which of them changed most, and what their curves are now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ipdp.comparison.common import common_points
from ipdp.core.curve import Curve
from ipdp.core.typing import Array, FloatArray
from ipdp.core.words import listed
from ipdp.log.files import NAME as LOG

_NAME = 60  # letters of a column that is quoted
_BATCH = 64  # rows that are read at a time, each of which may be long
# Bytes that a table may take in any case, and how many times those of its files.
_SMALL, _RATIO = 32 << 20, 100

COLUMNS = {
    "n": "long",
    "feature": "string",
    "output": "string",
    "importance": "double",
    "grid": "array<double>",
    "categories": "array<string>",
    "average": "array<double>",
    "std_error": "array<double>",
    "changes": "array<string>",
}
"""The columns of the table of a fleet beside the key, with their types in Spark."""


class KeyChange(NamedTuple):
    """A change that a monitor reported: after how many rows of the key, and a sentence."""

    n: int
    feature: str
    sentence: str


@dataclass
class Key:
    """One key of a fleet.

    Attributes
    ----------
    name
        The key.
    n
        How many of its rows were seen.
    since
        Up to which of its rows the earlier curves go, about half of them.
    now, then
        The newest curve of each feature, and the earlier one.
    changes
        What its monitor reported, oldest first.

    Examples
    --------
    >>> Key("pump-17", n=400, since=200).moved
    0.0
    """

    name: Any
    n: int
    since: int
    now: dict[str, Curve] = field(default_factory=dict)
    then: dict[str, Curve] = field(default_factory=dict)
    changes: list[KeyChange] = field(default_factory=list)

    @property
    def moves(self) -> dict[str, float]:
        """How far each feature's curve moved, in the units of the output; the farthest first."""
        both = self.now.keys() & self.then.keys()
        found = {feature: _moved(self.then[feature], self.now[feature]) for feature in both}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def moved(self) -> float:
        """How far the curve that moved most did."""
        return max(self.moves.values(), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with the newest curves."""
        return {
            "key": self.name,
            "n": self.n,
            "since": self.since,
            "moves": self.moves,
            "changes": [change._asdict() for change in self.changes],
            "curves": {feature: curve.to_dict() for feature, curve in self.now.items()},
        }


def keys(path: str | Path) -> list[Key]:
    """The keys in the table of a fleet, those whose curves moved most first.

    A curve has moved by the root mean square of the difference between the newest one and that of
    about half as many rows of the key, where both have points.

    Parameters
    ----------
    path
        Where the stream that `ipdp.spark.fleet` gives was written as Parquet: a directory, or one
        file.

    Examples
    --------
    >>> import tempfile
    >>> from river import tree
    >>> import ipdp.spark
    >>> spark, place = ipdp.spark.session("local[2]"), tempfile.mkdtemp()
    >>> rows = [("north" if k % 2 else "south", float(k % 7), k % 7 > 3) for k in range(200)]
    >>> df = spark.createDataFrame(rows, "device string, a double, y boolean")
    >>> df.write.parquet(f"{place}/rows")
    >>> stream = spark.readStream.schema(df.schema).parquet(f"{place}/rows")
    >>> def make():
    ...     return ipdp.IncrementalPDP(tree.HoeffdingTreeClassifier(), ["a"], n_past=0)
    >>> curves = ipdp.spark.fleet(stream, make, key="device", label="y")
    >>> writer = curves.writeStream.format("parquet").trigger(availableNow=True)
    >>> writer = writer.option("checkpointLocation", f"{place}/spark")
    >>> writer.start(f"{place}/curves").awaitTermination()
    >>> [(key.name, key.n) for key in ipdp.spark.keys(f"{place}/curves")]
    [('north', 100), ('south', 100)]
    """
    table = _Table(Path(path))
    try:
        found = _read(table)
    except (ArithmeticError, LookupError, TypeError) as error:
        raise ValueError(f"the table of the fleet at {path} is damaged: {error}") from None
    return sorted(found, key=lambda key: (-key.moved, -len(key.changes), str(key.name)))


def _read(table: _Table) -> list[Key]:
    found = {name: Key(name, max(seen), _half(seen)) for name, seen in table.seen().items()}
    lines: dict[tuple[Any, int, str], dict[str, dict[str, Any]]] = {}
    known: set[tuple[Any, KeyChange]] = set()
    for name, row in table.rows(["n", "changes", *_OF_CURVES]):
        key = found[name]
        for sentence in row["changes"] or ():
            change = KeyChange(row["n"], row["feature"], sentence)
            if (name, change) not in known:  # a batch that was written twice
                known.add((name, change))
                key.changes.append(change)
        if row["n"] in (key.n, key.since):
            lines.setdefault((name, row["n"], row["feature"]), {})[row["output"]] = row
    for (name, n, feature), by_output in lines.items():
        key, curve = found[name], _curve(feature, by_output)
        for at, curves in ((key.n, key.now), (key.since, key.then)):
            if n == at:
                curves[feature] = curve
    for key in found.values():
        key.changes.sort()
    return list(found.values())


def is_table(path: str | Path) -> bool:
    """Whether there is a Parquet file, or a directory of them that is no run with an export."""
    path = Path(path)
    if path.is_dir():
        return any(path.glob("*.parquet")) and not (path / LOG).exists()
    return path.suffix == ".parquet"


_OF_CURVES = ("feature", "output", "grid", "categories", "average", "std_error")


class _Table:
    """The Parquet files of a fleet; only what is asked for is read, some rows at a time.

    What is alike takes no room in such a file: some kilobytes may hold gigabytes, and are refused.
    """

    def __init__(self, path: Path) -> None:
        if not is_table(path):
            raise FileNotFoundError(f"there is no table of a fleet at {path}: no Parquet file")
        try:
            self._arrow, self._parquet = map(import_module, ("pyarrow", "pyarrow.parquet"))
        except ImportError:
            raise ImportError(
                "the table of a fleet needs pyarrow: pip install 'ipdp[arrow]'"
            ) from None
        # One file for each partition and batch; a name that begins with _ is Spark's own.
        self._path, self._files = path, [path] if path.is_file() else sorted(path.glob("*.parquet"))
        self._most = max(_SMALL, _RATIO * sum(os.path.getsize(file) for file in self._files))
        n_bytes = 0
        with self._damage():
            for file in self._files:
                with self._opened(file) as opened:
                    n_bytes += 8 * _n_values(opened.metadata)
                self._must_be_as_large_as_it_seems(n_bytes)
            with self._opened(self._files[0]) as opened:
                names = opened.schema_arrow.names
        others = [name for name in names if name not in COLUMNS]
        if len(others) != 1 or len(names) != len(COLUMNS) + 1:
            columns = listed((name[:_NAME] for name in names), 20)
            raise ValueError(
                f"{path} is not the table of a fleet: it has the columns {columns}, "
                f"where a key and {', '.join(COLUMNS)} are expected"
            )
        self.key = others[0]

    def rows(self, columns: list[str]) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The rows, each with its key."""
        n_bytes = 0
        for file in self._files:
            with self._damage(), self._opened(file) as opened:
                for batch in opened.iter_batches(_BATCH, columns=[self.key, *columns]):
                    n_bytes += batch.nbytes
                    self._must_be_as_large_as_it_seems(n_bytes)
                    for row in batch.to_pylist():
                        yield row.pop(self.key), row

    def _opened(self, file: Path) -> Any:
        return self._parquet.ParquetFile(os.path.abspath(file))  # else it may be an address

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (OSError, self._arrow.ArrowException) as error:
            raise ValueError(f"{self._path} cannot be read: {error}") from None

    def _must_be_as_large_as_it_seems(self, n_bytes: int) -> None:
        if n_bytes > self._most:
            raise ValueError(
                f"{self._path} would take {n_bytes >> 20:,} MB, far more than its files have"
            )

    def seen(self) -> dict[Any, set[int]]:
        """After how many of its rows each key was reported."""
        found: dict[Any, set[int]] = {}
        for name, row in self.rows(["n"]):
            found.setdefault(name, set()).add(row["n"])
        return found


def _n_values(metadata: Any) -> int:
    """How many values there are in a file, those in lists included."""
    groups = (metadata.row_group(k) for k in range(metadata.num_row_groups))
    return sum(group.column(k).num_values for group in groups for k in range(group.num_columns))


def _half(seen: set[int]) -> int:
    """The newest number of rows up to half of them; the first where all are more."""
    first, last = min(seen), max(seen)
    return max((n for n in seen if n <= last / 2), default=first)


def _curve(feature: str, by_output: Mapping[str, Mapping[str, Any]]) -> Curve:
    first = next(iter(by_output.values()))
    categories = first["categories"]
    axis: Array = np.array(categories, dtype=object) if categories else _floats(first["grid"])
    rows = by_output.values()
    if any(len(row[name]) != len(axis) for row in rows for name in ("average", "std_error")):
        raise ValueError(f"the curve of {feature} is damaged: not a value for each point")
    return Curve(
        feature=feature,
        outputs=tuple(by_output),
        grid_values=[axis],
        average=np.array([_floats(row["average"]) for row in rows]),
        std_error=np.array([_floats(row["std_error"]) for row in rows]),
        n_samples=first["n"],
        n_effective_points=np.full(len(axis), float(first["n"])),
        categorical=(bool(categories),),
        t=first["n"],
    )


def _floats(values: Any) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _moved(then: Curve, now: Curve) -> float:
    """The root mean square difference of two curves, of the output of which it is largest."""
    common = common_points(then, now)
    earlier = {label: k for k, label in enumerate(then.outputs)}
    shared = {label: k for k, label in enumerate(now.outputs) if label in earlier}
    if common is None or not shared:
        return 0.0
    before, after = (
        curve.average[[at[label] for label in shared]] @ weights.T
        for curve, at, weights in zip((then, now), (earlier, shared), common.weights, strict=True)
    )
    squares = np.nanmean((after - before) ** 2, axis=1)
    return float(np.sqrt(squares.max()))
