# The types of aggregation.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport exp

from ipdp.models.trees.kernels._walk cimport Walker


@cython.final
cdef class Path:
    cdef double left
    cdef list shares


cdef class Aggregation:
    cdef bint _aggregates
    cdef double _dirichlet, _prior
    cdef list _places
    cdef dict _known
    cdef Path _start

    @cython.locals(above=Path, shares=list, total=double, share=double)
    cdef list at(self, leaf)

    @cython.locals(path=Path, weight=double, shares=list, unknown=list)
    cdef Path _path(self, node)

    @cython.locals(counts=list, total=double, together=list, k=Py_ssize_t, place=Py_ssize_t,
                   count=double)
    cdef list _add(self, list shares, node, double part)


@cython.locals(row=Py_ssize_t, spans=list, runs=list, lo=Py_ssize_t, hi=Py_ssize_t, shares=list,
               aggregation=Aggregation, table=cython.double[:, :, ::1])
cpdef aggregate(Walker walker, trees, kinds, tuple classes)

@cython.locals(k=Py_ssize_t)
cdef _write(double[:, :, ::1] votes, Py_ssize_t row, Py_ssize_t lo, Py_ssize_t hi, list shares)
