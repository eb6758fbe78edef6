"""torch modules."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName, FloatArray, Observation
from ipdp.models.base import Outputs, as_rows
from ipdp.models.batched import BatchedEngine, table_of


def is_torch_module(model: Any) -> bool:
    """Whether a model is a torch module; whoever has one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


class TorchEngine(BatchedEngine):
    """A torch module that takes a batch of rows, of shape (n, n_features).

    It is called in evaluation mode and without gradients, and left in the mode that it was in. Type
    and device of the input are those of its parameters. The columns are the features of the first
    observation, in their order. It gives a tensor of shape (n,) or (n, n_outputs).
    """

    has_gradients = True

    def __init__(self, model: Any) -> None:
        super().__init__(model, f"torch module {type(model).__name__}")

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        del columns  # a tensor has none
        torch = sys.modules["torch"]
        rows = self._tensor(table)
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                answer = self.model(rows)
        finally:
            self.model.train(was_training)
        return answer.detach().to(device="cpu", dtype=torch.float64).numpy()

    def _tensor(self, table: Sequence[Array]) -> Any:
        """The rows as the model takes them."""
        torch = sys.modules["torch"]
        parameter = next(self.model.parameters(), None)
        like = torch.empty(0) if parameter is None else parameter
        rows = np.column_stack(list(table)).astype(float)
        return torch.as_tensor(rows, dtype=like.dtype, device=like.device)

    def gradients(
        self, observations: Sequence[Observation], names: Sequence[FeatureName]
    ) -> tuple[Outputs, FloatArray]:
        """The outputs, and their gradients: one pass backwards for each output."""
        torch = sys.modules["torch"]
        columns = self._columns_of(observations[0])
        rows = self._tensor(table_of(observations, columns)).requires_grad_(True)
        was_training = self.model.training
        self.model.eval()
        try:
            answer = self.model(rows)
            answer = answer[:, None] if answer.ndim == 1 else answer
            # Rows do not depend on each other: the gradient of the sum has that of each.
            each = [
                torch.autograd.grad(answer[:, k].sum(), rows, retain_graph=True)[0]
                for k in range(answer.shape[1])
            ]
        finally:
            self.model.train(was_training)
        slopes = torch.stack(each, dim=1)[:, :, [columns.index(name) for name in names]]
        values = answer.detach().to(device="cpu", dtype=torch.float64).numpy()
        labels, values = as_rows(values, len(observations))
        found: FloatArray = slopes.to(device="cpu", dtype=torch.float64).numpy()
        return Outputs(labels, values[:, :, None]), found
