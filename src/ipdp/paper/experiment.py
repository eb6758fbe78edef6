"""What an experiment is: something to run for a seed, a table over seeds, and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ipdp.paper.checks import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Say = Callable[[str], None]
"""Takes a line about how far it is."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name, title
        What it is called on the command line, and in words.
    run
        Called with a seed and with what takes lines about progress, and with options by name;
        gives whatever the other three take.
    numbers
        What is kept of a run in results.json: JSON-safe.
    rows
        The table over the runs of all seeds.
    figures
        The figures of one run, by file name without suffix.
    """

    name: str
    title: str
    run: Callable[..., Any]
    numbers: Callable[[Any], Mapping[str, Any]]
    rows: Callable[[Sequence[Any]], list[Row]]
    figures: Callable[[Any], Mapping[str, Figure]]
