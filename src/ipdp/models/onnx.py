"""ONNX Runtime sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, Observation
from ipdp.models.base import Rows, as_rows
from ipdp.models.batched import BatchedEngine

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def is_onnx_session(model: Any) -> bool:
    """Whether a model is a session of ONNX Runtime, told without importing it."""
    return type(model).__module__.startswith("onnxruntime") and hasattr(model, "get_inputs")


class OnnxEngine(BatchedEngine):
    """A session with one input for all features, or one for each feature.

    Of several outputs the probabilities are taken: those that come with their classes (a "zipmap"),
    else the one called so; without probabilities the first numbers.
    """

    def __init__(self, model: Any) -> None:
        self._inputs = [(node.name, _type_of(node)) for node in model.get_inputs()]
        self._output = _chosen_output(model.get_outputs())
        super().__init__(model, f"ONNX session, output {self._output!r}")

    def _columns_of(self, x: Observation) -> tuple[FeatureName, ...]:
        if len(self._inputs) > 1:
            return tuple(name for name, _ in self._inputs)
        return super()._columns_of(x)

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        del columns  # either one table, or inputs in the order of the session
        if len(self._inputs) == 1:
            [(name, kind)] = self._inputs
            feed: dict[str, Any] = {name: np.column_stack(list(table)).astype(kind)}
        else:
            inputs = zip(self._inputs, table, strict=True)
            feed = {name: column.astype(kind)[:, None] for (name, kind), column in inputs}
        [answer] = self.model.run([self._output], feed)
        return answer

    def _answer(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Rows:
        answer = self._call(table, columns)
        if not isinstance(answer, list):
            return as_rows(answer, len(table[0]))
        labels = tuple(answer[0])
        return labels, np.array([[row[label] for label in labels] for row in answer], dtype=float)


def _type_of(node: Any) -> type:
    if node.type not in _TYPES:
        raise TypeError(f"the ONNX input {node.name!r} is a {node.type}, which is not a table")
    return _TYPES[node.type]


def _chosen_output(outputs: Sequence[Any]) -> str:
    for fits in (
        lambda node: node.type.startswith("seq(map"),
        lambda node: "prob" in node.name.lower(),
        lambda node: node.type in ("tensor(float)", "tensor(double)"),
        lambda _: True,
    ):
        for node in outputs:
            if fits(node):
                return str(node.name)
    raise TypeError("the ONNX session has no outputs")
