"""The network of the california experiment: hidden layers of 50, 100 and 5."""

from __future__ import annotations

import importlib
from typing import Any, Literal

from ipdp.typing import FloatArray

Library = Literal["sklearn", "torch"]

LAYERS = (50, 100, 5)

_EPOCHS, _BATCH, _RATE = 60, 100, 1e-3


def fit(library: Library, x: FloatArray, y: FloatArray, seed: int) -> Any:
    """A fitted network.

    Parameters
    ----------
    library
        Who makes it: "sklearn" or "torch".
    x, y
        Standardised features, of shape (n, n_features), and targets.
    seed
        Start of its weights and of the order of its training.
    """
    if library == "sklearn":
        return _with_sklearn(x, y, seed)
    if library == "torch":
        return _with_torch(x, y, seed)
    raise ValueError(f"network must be sklearn or torch, got {library!r}")


def _with_sklearn(x: FloatArray, y: FloatArray, seed: int) -> Any:
    try:
        from sklearn.neural_network import MLPRegressor
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped] # of sklearn
    except ImportError:
        raise ImportError("the network needs scikit-learn: pip install 'ipdp[sklearn]'") from None
    # Stops when a tenth of the training data, held back for it, gets no better.
    network = MLPRegressor(
        hidden_layer_sizes=LAYERS, early_stopping=True, max_iter=500, random_state=seed
    )
    # Its matrices are small: threads would mostly wait for each other.
    with threadpool_limits(limits=1):
        return network.fit(x, y)


def _with_torch(x: FloatArray, y: FloatArray, seed: int) -> Any:
    """As in the authors' script: the last hidden layer is linear, so that it cannot die."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise ImportError("this network needs torch: pip install torch") from None

    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        first, second, third = LAYERS
        model = torch.nn.Sequential(
            torch.nn.Linear(x.shape[1], first),
            torch.nn.ReLU(),
            torch.nn.Linear(first, second),
            torch.nn.ReLU(),
            torch.nn.Linear(second, third),
            torch.nn.Linear(third, 1),
        )
    rows = torch.as_tensor(x, dtype=torch.float32)
    targets = torch.as_tensor(y, dtype=torch.float32)[:, None]
    optimizer = torch.optim.Adam(model.parameters(), lr=_RATE)
    for _ in range(_EPOCHS):
        for batch in torch.randperm(len(rows), generator=generator).split(_BATCH):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(rows[batch]), targets[batch]).backward()
            optimizer.step()
    return model.eval()


def predict(model: Any, x: FloatArray) -> FloatArray:
    """What a network of either library says of rows, of shape (n,)."""
    from ipdp.models import engine

    rows = [dict(enumerate(row)) for row in x.tolist()]
    values: FloatArray = engine(model).predict(rows).values
    return values.reshape(len(x))
