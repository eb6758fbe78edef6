# The types of voting.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport exp

from ipdp.models.trees.kernels._leaves cimport ClassifierLeaf, parts_of
from ipdp.models.trees.kernels._walk cimport Walker

cdef double _HALF_LOG_TAU, _LEFT_OUT


@cython.locals(reached=list, n_rows=Py_ssize_t, found=tuple, number=Py_ssize_t)
cpdef tuple vote(Walker walker, trees, list forms, tuple classes, cache)

@cython.locals(k=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t, weight=double, total=double,
               n_classes=Py_ssize_t, n_trees=Py_ssize_t, n_points=Py_ssize_t,
               shares=cython.double[:, ::1])
cpdef combine(double[:, :, ::1] votes, weights)

cdef double _log_density(double value, double mean, double twice, double half) noexcept


cdef class Voting:
    cdef object _points
    cdef Walker _walker
    cdef tuple classes
    cdef dict _known
    cdef list _name_of
    cdef bint _has_opaque
    cdef Py_ssize_t _turn, _start
    cdef const double[::1] _numbers
    cdef double[:, :, ::1] _votes

    cdef collect_in(self, double[:, :, ::1] votes, Py_ssize_t start=*)

    @cython.locals(number=Py_ssize_t, row=Py_ssize_t, weighted=bint, spans=list, runs=list,
                   lo=Py_ssize_t, hi=Py_ssize_t, parts=ClassifierLeaf)
    cpdef count(self, votes, trees, list reached)

    @cython.locals(parts=ClassifierLeaf)
    cdef ClassifierLeaf _enter(self, leaf, tree)

    cdef enter(self, ClassifierLeaf parts)

    @cython.locals(k=Py_ssize_t, at=Py_ssize_t, slot=Py_ssize_t, n_classes=Py_ssize_t)
    cdef begin_line(self, ClassifierLeaf parts, name, double value, Py_ssize_t start)

    @cython.locals(x=dict, place=Py_ssize_t, at=Py_ssize_t, k=Py_ssize_t, slot=Py_ssize_t,
                   value=double, n_classes=Py_ssize_t)
    cdef _terms_of_x(self, ClassifierLeaf parts)

    @cython.locals(k=Py_ssize_t, column=Py_ssize_t, slot=Py_ssize_t, scale=double, share=double,
                   n_classes=Py_ssize_t, start=Py_ssize_t)
    cdef vote(self, ClassifierLeaf parts, Py_ssize_t row, Py_ssize_t lo, Py_ssize_t hi, bint weighted)

    @cython.locals(k=Py_ssize_t, column=Py_ssize_t, at=Py_ssize_t, n_classes=Py_ssize_t, start=Py_ssize_t, mean=double,
                   twice=double, half=double, term=double)
    cdef _replace(
        self, ClassifierLeaf parts, Py_ssize_t slot, Py_ssize_t row, Py_ssize_t lo, Py_ssize_t hi
    )

    @cython.locals(k=Py_ssize_t, s=Py_ssize_t, column=Py_ssize_t, n_before=Py_ssize_t,
                   n_slots=Py_ssize_t, n_classes=Py_ssize_t, start=Py_ssize_t, before=double, replaced=double,
                   term=double)
    cdef void _add_up(
        self, ClassifierLeaf parts, Py_ssize_t slot, Py_ssize_t row, Py_ssize_t lo, Py_ssize_t hi
    ) noexcept

    @cython.locals(k=Py_ssize_t, column=Py_ssize_t, n_classes=Py_ssize_t, start=Py_ssize_t, total=double,
                   highest=double, difference=double, share=double)
    cdef void _normalise(self, Py_ssize_t row, Py_ssize_t lo, Py_ssize_t hi, double scale) noexcept
