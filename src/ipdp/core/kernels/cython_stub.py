"""What Cython's module `cython` says in code that is not compiled, for where there is no Cython."""

from __future__ import annotations

from contextlib import nullcontext

compiled = False
nogil = nullcontext()
