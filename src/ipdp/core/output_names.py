"""What the numbers of an output are called: on every axis, in every table and every sentence."""

from __future__ import annotations

from numbers import Real

from ipdp.core.link import Link, text_on_scale
from ipdp.core.typing import Label

PREDICTION: tuple[Label, ...] = ("prediction",)
"""The outputs of a model that gives one number."""


def output_name(
    output: Label | None, *, is_chance: bool, target: str | None = None, link: Link | None = None
) -> str:
    """What the numbers of an output are, in words; None are all outputs together.

    Parameters
    ----------
    output
        A class of a classifier, a target of a regressor.
    is_chance
        Whether the output is the probability of a class.
    target
        What the model predicts, where that is known.
    link
        The scale of the numbers.

    Examples
    --------
    >>> output_name("yes", is_chance=True), output_name("yes", is_chance=True, target="churned")
    ('chance of yes', 'chance that churned is yes')
    >>> output_name(1, is_chance=True), output_name("price", is_chance=False)
    ('chance of class 1', 'predicted price')
    >>> output_name("yes", is_chance=True, target="churned", link="logit")
    'log-odds that churned is yes'
    """
    chance, before = "chance", "" if link is None else f"{text_on_scale('the', link)} "
    if link == "logit" and is_chance:
        chance, before = "log-odds", ""
    if output is None:
        each = f"{chance} of each {target or 'class'}" if is_chance else "prediction"
        return f"{before}{each}"
    if is_chance:
        return f"{before}{chance} {_of_class(output, target)}"
    if (output,) == PREDICTION:
        return f"{before}predicted {target}" if target else f"{before}prediction"
    return f"{before}predicted {output}"


def _of_class(label: Label, target: str | None) -> str:
    if target:
        return f"that {target} is {label}"
    is_number = isinstance(label, Real) and not isinstance(label, bool)
    return f"of class {label}" if is_number else f"of {label}"
