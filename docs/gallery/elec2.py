"""
Electricity prices of New South Wales
=====================================

Nearly every paper about drift uses this stream. The prices of the neighbouring state Victoria are
constant until the two markets are joined; then their effect appears. The example needs the data
(:doc:`/datasets`), so it runs on your machine and not where the site is built without them; the
picture comes from ``ipdp paper elec2``.

.. image:: /images/paper/elec2.png
   :alt: The effect of vicprice on the chance that the price goes up, at several times
"""

# sphinx_gallery_thumbnail_path = "images/paper/elec2.png"
from river import forest

import ipdp

model = forest.ARFClassifier(n_models=10, seed=42)
pdp = ipdp.IncrementalPDP(model, alpha=0.001, seed=42)
monitor = ipdp.Monitor(pdp)
curves = []
for t, (x, y) in enumerate(ipdp.datasets.elec2().take(25_000), 1):
    monitor.explain_one(x)
    model.learn_one(x, y)
    if t % 500 == 0:
        curves.append(pdp.curve("vicprice", now=True))

for change in monitor.changes:
    print(change.summary())
ipdp.plot.CarpetDisplay(curves, "vicprice").plot()
