"""What is put around a model of river, so that it takes the columns and labels that there are.

Text columns are encoded by river's own transformers in front of the model, unless the model takes
text, as trees do. Text that is another one in each row, as an id is, is kept from the model. A
model that knows two classes only, as true and false, learns others as one against the rest.
"""

from __future__ import annotations

import copy
import numbers
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice
from typing import Any, Literal, Self

from ipdp.core.words import listed
from ipdp.models import engine
from ipdp.runs.models import Order, learner
from ipdp.sources.base import Pair
from ipdp.sources.profile import Profile

Encode = Literal["auto", "onehot", "ordinal", "none"]
"""How text columns are encoded."""

# A column with more categories than this among the first observations is not made one column each.
_MOST_CATEGORIES = 30
# A model is tried on at least so many: some compare an observation with those before.
_TRIED = 20


@dataclass(frozen=True)
class Fitting:
    """What is put around a model.

    Attributes
    ----------
    encode
        The encoder of text columns, "onehot" or "ordinal"; None for none.
    texts
        The columns that were text at the start; others are encoded as well once they are.
    ordinal
        Columns that are numbered although the others are one-hot.
    one_vs_rest
        Whether there is a model for each class.
    without
        Columns that the model does not get: text that was another one in each row.
    """

    encode: Literal["onehot", "ordinal"] | None = None
    texts: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    one_vs_rest: bool = False
    without: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For the log."""
        return asdict(self)

    @classmethod
    def from_dict(cls, logged: Mapping[str, Any] | None) -> Self:
        """From the log; a run that was made before there was any had nothing around its model."""
        if logged is None:
            return cls()
        lists = {name: tuple(logged.get(name, ())) for name in ("texts", "ordinal", "without")}
        return cls(logged["encode"], one_vs_rest=bool(logged["one_vs_rest"]), **lists)

    def around(self, model: Any) -> Any:
        """The model with all that belongs around it."""
        if self.one_vs_rest:
            model = _one_vs_rest(model)
        if self.encode is not None:
            model = _encoder(self) | model
        return _discard(self.without) | model if self.without else model

    def sentences(self) -> list[str]:
        """What was done, for people."""
        said = []
        if self.without:
            said.append(
                f"Left out of the model: {listed(self.without)}, text that is another one in each "
                "row, as an id is. A column that --columns names is not left out."
            )
        if self.encode is not None:
            names = {"onehot": "one-hot (OneHotEncoder)", "ordinal": "as numbers (OrdinalEncoder)"}
            rest = [name for name in self.texts if name not in self.ordinal]
            parts = [f"{listed(rest)} {names[self.encode]}"] if rest else []
            parts += [f"{listed(self.ordinal)} {names['ordinal']}"] if self.ordinal else []
            said.append(
                f"Encoded in front of the model: {'; '.join(parts)}. --encode none leaves text as "
                "it is."
            )
        if self.one_vs_rest:
            said.append(
                "Each class is learnt against the rest (OneVsRestClassifier): the model itself "
                "knows true and false only."
            )
        return said


def fitting(
    model: Any,
    rows: Sequence[Pair],
    encode: Encode,
    *,
    is_fresh: bool = True,
    wanted: Sequence[str] = (),
) -> Fitting:
    """What has to be put around a model for observations that begin with these.

    Around a model that is not `is_fresh`, one that was taught before, nothing is put. What is
    `wanted` is not left out, whatever it looks like.
    """
    if not is_river(model):
        if encode in ("onehot", "ordinal"):
            raise ValueError(
                f"--encode is for models of river: a {type(model).__name__} takes columns as it "
                "was fitted on them"
            )
        return Fitting()
    if not is_fresh:
        return Fitting()
    profile = Profile(rows)
    made = Fitting(one_vs_rest=_knows_two(model) and _is_foreign(profile.labels))
    texts = tuple(profile.texts)
    if encode == "none" or not texts:
        return made
    if encode != "auto":
        return replace(made, encode=encode, texts=texts)
    different = tuple(name for name in profile.different if name not in wanted)
    return _by_trial(model, made, profile, different)


def _by_trial(model: Any, made: Fitting, profile: Profile, different: tuple[str, ...]) -> Fitting:
    """Without what is different in each row, and encoded if the model does not take it else."""
    rows = profile.rows
    if _takes(made.around(copy.deepcopy(model)), rows):
        return replace(made, without=different) if _is_plain(model) else made
    made = replace(made, without=different)
    texts = tuple(name for name in profile.texts if name not in different)
    if not texts or _takes(made.around(copy.deepcopy(model)), rows):
        return made
    wide = tuple(n for n in texts if len(set(profile.columns[n])) > _MOST_CATEGORIES)
    return replace(made, encode="onehot", texts=texts, ordinal=wide)


def is_river(model: Any) -> bool:
    """Whether a model is one of river."""
    base = sys.modules.get("river.base")
    return base is not None and isinstance(model, base.Estimator)


def _is_plain(model: Any) -> bool:
    """Whether it is a model of river's own that gets the columns as they are.

    A pipeline, or a part that somebody else wrote, may make something of a text, such as its words.
    """
    from river import base, compose

    if isinstance(model, compose.Pipeline) or not type(model).__module__.startswith("river."):
        return False
    values = vars(model).values()  # which a fresh model has from its parameters
    parts = [p for v in values for p in (v if isinstance(v, (list, tuple)) else [v])]
    return all(_is_plain(part) for part in parts if isinstance(part, base.Base))


def _discard(names: Sequence[str]) -> Any:
    from river import compose

    return compose.Discard(*names)


def _knows_two(model: Any) -> bool:
    from river import base

    return isinstance(model, base.Classifier) and not model._multiclass


def _is_foreign(labels: Sequence[Any]) -> bool:
    """Whether labels are others than true and false."""
    return any(isinstance(y, str) or y not in (0, 1) for y in labels)


def _takes(model: Any, rows: Sequence[Pair]) -> bool:
    """Whether a model learns and predicts these observations; it is changed by that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            asked, learn = engine(model), learner(model, Order())
            for x, y in islice(cycle(rows), max(_TRIED, len(rows))):
                asked.predict([x])
                if y is not None or not model._supervised:
                    learn(x, y)
        except Exception:  # whatever a model does with a text
            return False
    return True


def _encoder(made: Fitting) -> Any:
    """River's transformers, by type where they can be: a value may be missing, or be text later."""
    from river import compose, preprocessing

    text, rest = compose.SelectType(str), compose.SelectType(numbers.Number)
    if made.encode == "ordinal":
        return (text | preprocessing.OrdinalEncoder()) + rest
    if not made.ordinal:
        return (text | preprocessing.OneHotEncoder()) + rest
    hot = text | compose.Discard(*made.ordinal) | preprocessing.OneHotEncoder()
    others = [name for name in made.texts if name not in made.ordinal]
    numbered = compose.SelectType(str) | compose.Discard(*others) | preprocessing.OrdinalEncoder()
    return hot + numbered + rest


def _one_vs_rest(model: Any) -> Any:
    """A model for each class; of a pipeline only the last step is multiplied."""
    from river import compose, multiclass

    if not isinstance(model, compose.Pipeline):
        return multiclass.OneVsRestClassifier(model)
    *steps, (_, last) = model.steps.items()
    return compose.Pipeline(*steps, multiclass.OneVsRestClassifier(last))
