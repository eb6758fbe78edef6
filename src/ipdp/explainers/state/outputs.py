"""Which outputs a model may have after those that it had."""

from __future__ import annotations

from ipdp.core.output_names import PREDICTION
from ipdp.core.typing import Label


def compatible(
    known: tuple[Label, ...], named: bool, labels: tuple[Label, ...] | None, n: int
) -> bool:
    """Whether a model that had the outputs `known` may have n outputs of these labels.

    Classes may appear; one number does not turn into classes, and outputs without names stay as
    many as they were.
    """
    if not known or not n:
        return True
    if labels is None or not named:
        return labels is None and not named and len(known) == n
    return (labels == PREDICTION) == (known == PREDICTION)


def in_words(labels: tuple[Label, ...] | None, n: int) -> str:
    """Some outputs, for a sentence; the labels are None if the model does not name them."""
    return f"{n} outputs" if labels is None else f"the outputs {list(labels)}"
