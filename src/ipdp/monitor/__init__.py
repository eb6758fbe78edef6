"""Change detection on the explanation stream: what changed, where, when, of which kind."""

from ipdp.monitor import handlers
from ipdp.monitor.change import Change
from ipdp.monitor.monitor import Monitor

__all__ = ["Change", "Monitor", "handlers"]
