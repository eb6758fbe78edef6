"""What a run left behind, as one page to mail and as figures.

The page that follows a run live, `ipdp.dashboard`, shows the same payload with the same scripts.
"""

from ipdp.report.figures import write_figures
from ipdp.report.html import write_report

__all__ = ["write_figures", "write_report"]
