"""Builds the loops of the tree walk as extensions, where there is a compiler.

They are Python files, which are compiled as they are under names of their own, so that both builds
are there and can be compared. Where there is no compiler, or no Cython, the package is installed
without the extensions and runs the Python files.
"""

from setuptools import Extension, setup

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    extensions = cythonize(
        [
            Extension(f"ipdp.models.trees._{name}", [f"src/ipdp/models/trees/{name}.py"])
            for name in ("walk", "leaves", "voting")
        ],
        build_dir="build",
        compiler_directives={
            "annotation_typing": False,  # the types are in the .pxd files
            "boundscheck": False,
            "cdivision": True,
            "initializedcheck": False,
            "wraparound": False,
        },
    )
for extension in extensions:
    extension.optional = True  # Cython drops it

setup(ext_modules=extensions)
