"""The paper's experiments and figures: `ipdp paper NAME`."""

from ipdp.paper.checks import Row, markdown, table
from ipdp.paper.running import EXPERIMENTS, Results, run_experiment

__all__ = ["EXPERIMENTS", "Results", "Row", "markdown", "run_experiment", "table"]
