"""Partial dependence of a model on a table of Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ipdp.core import packing
from ipdp.core.curve import Curve
from ipdp.core.jsonable import decode_name, encode_name
from ipdp.core.observations import observations
from ipdp.core.typing import Feature, FeatureName
from ipdp.core.validation import sample_weight
from ipdp.explainers.state.curve_memory import CurveMemory
from ipdp.explainers.state.snapshot import Snapshot
from ipdp.explainers.state.stack import Stack
from ipdp.explainers.state.targets import (
    Target,
    as_features,
    check_columns,
    checked_grids,
    followed,
    names_of,
)
from ipdp.grid import Auto, Grid
from ipdp.models import engine
from ipdp.spark.grids import KnownGrid, look_at
from ipdp.spark.interrupts import interruptible
from ipdp.spark.sending import Sent, context_of, must_be_sendable, need_columns, quoted, sentences

# Rows that are asked about at a time: enough for the model, and memory stays small.
_BLOCK = 1000


def partial_dependence(
    model: Any,
    df: Any,
    features: Any = None,
    *,
    grid: Grid | Mapping[FeatureName, Grid] | None = None,
    weights: str | None = None,
    by: str | None = None,
    columns: Sequence[str] | None = None,
) -> Any:
    """Partial dependence curves of a model over all rows of a table of Spark.

    They are those of `ipdp.partial_dependence` on the same rows, to rounding, without ICE curves.
    Grids come from aggregates; then the workers ask the model, each about its own rows, and the
    driver joins what comes from each partition.

    Parameters
    ----------
    model
        Anything that `ipdp.models.engine` takes and that can be pickled.
    df
        A frame of Spark. What is shown of recent values is of its last rows.
    features
        Names of features, and pairs of names as tuples; None takes all columns.
    grid
        As in `ipdp.partial_dependence`; one of ipdp's own grids.
    weights
        The column of the rows' weights. The model does not get it.
    by
        A column: the curves of the rows with each of its values, on the grids of the whole table.
    columns
        The columns that the model gets; by default all but that of the weights.

    Returns
    -------
    The curves, in the order of `features`; with `by` a dict of such lists by value.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import ipdp.spark
    >>> model = LinearRegression().fit([[0, 0], [1, 0], [0, 1]], [0, 2, -1])  # 2 a - b
    >>> spark = ipdp.spark.session("local[2]")
    >>> rows = [(float(k), float(k % 7)) for k in range(140)]
    >>> df = spark.createDataFrame(rows, "a double, b double")
    >>> [curve] = ipdp.spark.partial_dependence(model, df, ["b"])
    >>> (curve.at(6.0) - curve.at(0.0)).round(6)
    array([-6.])
    """
    context = context_of(df)
    need_columns(df, weights=weights, by=by, columns=columns)
    taken = [c for c in df.columns if c != weights] if columns is None else list(columns)
    listed = None if features is None else as_features(features)
    checked = checked_grids(grid, listed)
    asked = engine(model)
    check_columns(dict.fromkeys(taken), listed, asked)
    listed = followed(dict.fromkeys(taken), listed, asked)
    names: list[Any] = list(dict.fromkeys(name for f in listed for name in names_of(f)))
    patterns = {n: checked if isinstance(checked, Grid) else checked.get(n, Auto()) for n in names}
    sent_columns = list(dict.fromkeys([*taken, *filter(None, [weights, by])]))
    must_be_sendable(sent_columns)
    sent = Sent(context, asked, "the model")
    with sentences(), interruptible(context, "stopped before all rows were read"):
        table = look_at(df, names, patterns, weights)
        fold = _Fold(sent, listed, table.grids, tuple(taken), weights=weights, by=by)
        parts = df.select(*map(quoted, sent_columns)).mapInArrow(fold, _PARTS).collect()
    sent.forget()
    joined: dict[str, CurveMemory] = {}
    for part in sorted(parts, key=lambda part: part.partition):
        memory = fold.memory()
        memory.state = packing.unpack(part.state)
        known = joined.get(part.group)
        joined[part.group] = memory if known is None else _joined(known, memory)
    curves = {}
    for group, memory in joined.items():
        memory.seen = memory.t = table.n
        memory.joint.extend(table.last)
        curves[decode_name(json.loads(group))] = _curves(memory)
    return curves[None] if by is None else curves


_PARTS = "partition long, group string, state binary"


class _Fold:
    """In a worker: asks the model about the rows of a partition, and gives what is left of them."""

    def __init__(
        self,
        sent: Sent,
        features: list[Feature],
        grids: dict[FeatureName, KnownGrid],
        columns: tuple[str, ...],
        *,
        weights: str | None,
        by: str | None,
    ) -> None:
        self.sent, self.features, self.grids, self.columns = sent, features, grids, columns
        self.weights, self.by = weights, by

    def memory(self) -> CurveMemory:
        """A memory without data."""
        targets = [
            Target(f, names_of(f), tuple(self.grids[n] for n in names_of(f))) for f in self.features
        ]
        # The rows of a table are a sample: their order is not that of time.
        return CurveMemory(targets, self.columns, alpha=None, n_ice=0, dependence=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyspark import TaskContext

        engine = self.sent.load()
        stacks: dict[str, Stack] = {}
        for batch in batches:
            for start in range(0, batch.num_rows, _BLOCK):
                part = pa.Table.from_batches([batch.slice(start, _BLOCK)])
                self._fold(part, stacks, engine)
        if not stacks:
            return
        n = len(stacks)
        context: Any = TaskContext.get()
        content = {
            "partition": [context.partitionId()] * n,
            "group": list(stacks),
            "state": [packing.pack(stack.memory.state) for stack in stacks.values()],
        }
        yield pa.RecordBatch.from_pydict(content)

    def _fold(self, part: Any, stacks: dict[str, Stack], engine: Any) -> None:
        rows = observations(part.select(list(self.columns)))
        weights = [1.0] * len(rows)
        if self.weights is not None:
            weights = [sample_weight(w) for w in part[self.weights].to_pylist()]
        groups = [None] * len(rows) if self.by is None else part[self.by].to_pylist()
        names = {group: json.dumps(encode_name(group)) for group in dict.fromkeys(groups)}
        for x, weight, group in zip(rows, weights, groups, strict=True):
            if not weight:
                continue
            name = names[group]
            if name not in stacks:
                stacks[name] = Stack(self.memory(), engine)
            stack = stacks[name]
            memory = stack.memory
            memory.seen += 1
            memory.t = memory.seen
            stack.add(x, memory.admit(x), weight, memory.seen)
        for stack in stacks.values():
            stack.flush()


def _joined(memory: CurveMemory, later: CurveMemory) -> CurveMemory:
    """The memory of both, in the first one."""
    means = memory.means.merge(later.means, memory.targets)
    memory.spreads, memory.means = memory.merged_spreads(later, means), means
    for target, other in zip(memory.targets, later.targets, strict=True):
        target.n += other.n
    return memory


def _curves(memory: CurveMemory) -> list[Curve]:
    now = Snapshot(memory)
    return [replace(now.curve(k), provisional=False) for k in range(len(memory.targets))]
