"""
What speaks for which of three classes?
=======================================

A classifier of three waveforms has three outputs, and every feature has one curve for each, from
the same predictions. Where one rises, others must fall: the three add up to 1.
"""

from river import naive_bayes
from river.datasets import synth

import ipdp

model = naive_bayes.GaussianNB()
pdp = ipdp.IncrementalPDP(model, [6, 14], alpha=0.002)
for x, y in synth.Waveform(seed=42).take(2_000):
    pdp.explain_one(x)
    model.learn_one(x, y)

# %%
# All outputs of one feature in one picture; ``output=`` chooses one.

pdp.curve(6).plot(ice=False)
