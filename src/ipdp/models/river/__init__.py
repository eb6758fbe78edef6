"""River's models: what each part of one answers for many copies of an observation."""

from ipdp.models.river.detect import is_river_model, river_engine
from ipdp.models.river.frames import MiniBatchEngine

__all__ = ["MiniBatchEngine", "is_river_model", "river_engine"]
