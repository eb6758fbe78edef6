"""A model from a text: an import path with arguments, a factory, or a file."""

from ipdp.models.load.expressions import load_object
from ipdp.models.load.names import LoadError
from ipdp.models.load.open import load_model

__all__ = ["LoadError", "load_model", "load_object"]
