"""Builds the kernels as extensions, where there is a compiler.

They are Python files, which are compiled as they are under names of their own, so that both builds
are there and can be compared. Where there is no compiler, or no Cython, the package is installed
without the extensions and runs the Python files.
"""

import os

from setuptools import Extension, setup

KERNELS = (
    ("ipdp.core.kernels", "loop"),
    ("ipdp.core.kernels", "sums"),
    ("ipdp.core.kernels", "bins"),
    ("ipdp.core.kernels", "storages"),
    ("ipdp.core.kernels", "spread"),
    ("ipdp.core.kernels", "nearest"),
    ("ipdp.core.kernels", "moves"),
    ("ipdp.core.kernels", "differences"),
    ("ipdp.core.kernels", "news"),
    ("ipdp.models.trees.kernels", "walk"),
    ("ipdp.models.trees.kernels", "leaves"),
    ("ipdp.models.trees.kernels", "voting"),
    ("ipdp.models.trees.kernels", "aggregation"),
    ("ipdp.models.trees.kernels", "compact"),
    ("ipdp.models.river.kernels", "linear"),
    ("ipdp.models.river.kernels", "bayes"),
    ("ipdp.models.forests.kernels", "ice"),
    ("ipdp.models.forests.kernels", "masks"),
)

try:
    if os.environ.get("IPDP_PURE"):  # a wheel for every platform
        raise ImportError
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    extensions = cythonize(
        [
            Extension(
                f"{room}._{name}",
                [f"src/{room.replace('.', '/')}/{name}.py"],
                # Sums are rounded as numpy rounds them, on every machine; symbols for a debugger
                # would be most of the file.
                extra_compile_args=[] if os.name == "nt" else ["-ffp-contract=off", "-g0"],
            )
            for room, name in KERNELS
        ],
        build_dir="build",
        force=True,  # one that is older than the .pxd file of another would crash
        compiler_directives={
            "annotation_typing": False,  # the types are in the .pxd files
            # For `make chaos`: an index beyond the end of an array is an error then, and no crash.
            "boundscheck": bool(os.environ.get("IPDP_CHECKED")),
            "cdivision": True,
            "initializedcheck": bool(os.environ.get("IPDP_CHECKED")),
            "wraparound": False,
        },
    )
for extension in extensions:
    extension.optional = True  # Cython drops it

setup(ext_modules=extensions)
