"""The network of the california experiment: hidden layers of 50, 100 and 5."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any, Literal

from ipdp.core.typing import FloatArray

Library = Literal["sklearn", "torch"]

LAYERS = (50, 100, 5)

_EPOCHS, _BATCH, _RATE = 60, 100, 1e-3


Fit = Callable[[FloatArray, FloatArray, int], Any]
"""Fits a network to standardised features, (n, n_features), and targets, (n,), with a seed."""


def fitter(library: Library) -> Fit:
    """What fits the network, once it is known that its library is here.

    Parameters
    ----------
    library
        Who makes it: "sklearn" or "torch".
    """
    makers: dict[str, Callable[[], Fit]] = {"sklearn": _sklearn, "torch": _torch}
    if library not in makers:
        raise ValueError(f"network must be sklearn or torch, got {library!r}")
    return makers[library]()


def _sklearn() -> Fit:
    try:
        from sklearn.neural_network import MLPRegressor
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped] # of sklearn
    except ImportError:
        raise ImportError("the network needs scikit-learn: pip install 'ipdp[sklearn]'") from None

    def fit(x: FloatArray, y: FloatArray, seed: int) -> Any:
        # Stops when a tenth of the training data, held back for it, gets no better.
        network = MLPRegressor(
            hidden_layer_sizes=LAYERS, early_stopping=True, max_iter=500, random_state=seed
        )
        # Its matrices are small: threads would mostly wait for each other. And it takes Ctrl-C for
        # the end of its training, with a warning only: here it is the end of it all.
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.filterwarnings("error", "Training interrupted")
            try:
                return network.fit(x, y)
            except UserWarning:
                raise KeyboardInterrupt from None

    return fit


def _torch() -> Fit:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise ImportError("this network needs torch: pip install torch") from None

    def fit(x: FloatArray, y: FloatArray, seed: int) -> Any:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = _layers(torch.nn, x.shape[1])
        generator = torch.Generator().manual_seed(seed)
        rows = torch.as_tensor(x, dtype=torch.float32)
        targets = torch.as_tensor(y, dtype=torch.float32)[:, None]
        optimizer = torch.optim.Adam(model.parameters(), lr=_RATE)
        for _ in range(_EPOCHS):
            for batch in torch.randperm(len(rows), generator=generator).split(_BATCH):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(model(rows[batch]), targets[batch]).backward()
                optimizer.step()
        return model.eval()

    return fit


def _layers(nn: Any, n_features: int) -> Any:
    """As in the authors' script: the last hidden layer is linear, so that it cannot die."""
    first, second, third = LAYERS
    return nn.Sequential(
        nn.Linear(n_features, first),
        nn.ReLU(),
        nn.Linear(first, second),
        nn.ReLU(),
        nn.Linear(second, third),
        nn.Linear(third, 1),
    )


def predict(model: Any, x: FloatArray) -> FloatArray:
    """What a network of either library says of rows, of shape (n,)."""
    from ipdp.models import engine

    rows = [dict(enumerate(row)) for row in x.tolist()]
    values: FloatArray = engine(model).predict(rows).values
    return values.reshape(len(x))
