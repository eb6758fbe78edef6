"""What a run has logged, shown: a live page that follows it, a report in one file, figures."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipdp.web.access import new_token
    from ipdp.web.app import make_app
    from ipdp.web.figures import write_figures
    from ipdp.web.report import write_report
    from ipdp.web.server import background, serve

__all__ = ["background", "make_app", "new_token", "serve", "write_figures", "write_report"]

# The page needs a server, the report none: each is imported when it is asked for.
_HOMES = {
    "background": "server",
    "make_app": "app",
    "new_token": "access",
    "serve": "server",
    "write_figures": "figures",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ipdp.web' has no attribute {name!r}")
    try:
        return getattr(import_module(f"ipdp.web.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ipdp"):
            raise
        raise ImportError(f"the live page needs {error.name}: pip install 'ipdp[live]'") from None
