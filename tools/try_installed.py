"""Try the ipdp that is installed: python tools/try_installed.py pure."""

import sys
import time

start = time.perf_counter()

import ipdp  # noqa: E402 - its time is measured

print(f"import ipdp: {time.perf_counter() - start:.2f} s, from {ipdp.__file__}")
assert "site-packages" in ipdp.__file__, "this is the checkout"
assert ipdp.models.build() == sys.argv[1], ipdp.models.build()
pdp = ipdp.IncrementalPDP(lambda x: x["a"] ** 2, ["a"])
for k in range(200):
    pdp.explain_one({"a": k % 11})
print(pdp.curve("a", now=True))
