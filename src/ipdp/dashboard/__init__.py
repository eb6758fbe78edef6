"""The live page: follows runs by their logs, which it only reads."""

from ipdp.dashboard.app import make_app
from ipdp.dashboard.guard import new_token
from ipdp.dashboard.server import background, serve

__all__ = ["background", "make_app", "new_token", "serve"]
