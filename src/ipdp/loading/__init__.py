"""A model from a word: an import path with arguments, a factory, or a file."""

from ipdp.loading.door import load_model
from ipdp.loading.errors import LoadError
from ipdp.loading.expressions import load_object

__all__ = ["LoadError", "load_model", "load_object"]
