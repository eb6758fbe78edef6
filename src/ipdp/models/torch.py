"""torch modules."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipdp.core.typing import Array, FeatureName
from ipdp.models.batched import BatchedEngine


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

    def __init__(self, model: Any) -> None:
        super().__init__(model, f"torch module {type(model).__name__}")

    def _call(self, table: Sequence[Array], columns: tuple[FeatureName, ...]) -> Any:
        del columns  # a tensor has none
        torch = sys.modules["torch"]
        parameter = next(self.model.parameters(), None)
        like = torch.empty(0) if parameter is None else parameter
        rows = np.column_stack(list(table)).astype(float)
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                answer = self.model(torch.as_tensor(rows, dtype=like.dtype, device=like.device))
        finally:
            self.model.train(was_training)
        return answer.detach().to(device="cpu", dtype=torch.float64).numpy()
