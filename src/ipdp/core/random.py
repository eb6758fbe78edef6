"""Random numbers that are cheap to draw one by one and small to save."""

from __future__ import annotations

import secrets
import zlib
from array import array
from functools import cached_property
from typing import Any

import numpy as np

from ipdp.core import kernels, schema
from ipdp.core.typing import State

# numpy charges a call, not a number: a block makes one draw cost as much as a list look-up.
_BLOCK = 256
# That of the installed build serves both, so that one may be put in place of the other, also when
# that was done before this module was loaded.
_RandomBlock = kernels.installed().RandomBlock
_SEED = schema.Kind("a number of 128 bits", lambda v: type(v) is int and 0 <= v < 2**128)


class Uniforms:
    """An own stream of uniform numbers in [0, 1); without a seed the operating system gives one."""

    def __init__(self, *, seed: int | None = None) -> None:
        self.seed = seed
        # Many streams are made, and few are drawn from: the generator waits for the first draw.
        self._first = secrets.randbits(128) if seed is None else seed
        self.block: Any = _RandomBlock()

    @cached_property
    def _generator(self) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(self._first))

    def refill(self) -> None:
        """Make the next block of numbers."""
        self._before_block = self._generator.bit_generator.state["state"]
        self.block.fill(array("d", self._generator.random(_BLOCK).tobytes()))

    def draw(self) -> float:
        """The next number."""
        return float(kernels.current.draw(self.block, self))

    def draw_below(self, n: int) -> int:
        """The next number as an index in 0, ..., n - 1."""
        return int(self.draw() * n)

    @property
    def state(self) -> State:
        """Where the stream stands."""
        bit_generator = self._generator.bit_generator
        before = self._before_block if self.block.numbers else bit_generator.state["state"]
        return {"generator": dict(before), "used": self.block.used}

    @state.setter
    def state(self, state: State) -> None:
        schema.check(state, used=schema.below(_BLOCK + 1))
        schema.check(state["generator"], state=_SEED, inc=_SEED)
        bit_generator = self._generator.bit_generator
        bit_generator.state = {**bit_generator.state, "state": dict(state["generator"])}
        self.block.fill(array("d"))
        if state["used"]:
            self.refill()
            self.block.used = int(state["used"])

    def __getstate__(self) -> State:
        # A pickle is not about the build.
        state = self.state
        return {"seed": self.seed, "_before_block": state["generator"], "_used": state["used"]}

    def __setstate__(self, state: State) -> None:
        self.__init__(seed=state["seed"])  # type: ignore[misc]
        self.state = {"generator": state["_before_block"], "used": state["_used"]}


def seed_for(seed: int | None, name: object) -> int | None:
    """A seed of its own for each name, whatever the order in which the names come."""
    return None if seed is None else zlib.crc32(f"{seed}:{name!r}".encode())
