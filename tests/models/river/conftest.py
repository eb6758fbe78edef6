"""Every test of the parts runs in both builds."""

from tests.models.trees.conftest import build  # noqa: F401
