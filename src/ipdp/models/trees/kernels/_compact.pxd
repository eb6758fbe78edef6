# The types of compact.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport floor

from ipdp.models.trees.kernels._leaves cimport ClassifierLeaf, parts_of
from ipdp.models.trees.kernels._voting cimport Voting
from ipdp.models.trees.kernels._walk cimport Walker, bisect_right

cdef double _ROUNDING

cdef bint _is_other(points) except -1


@cython.final
cdef class CompactTree:
    cdef object tree, kinds, root
    cdef bint usable
    cdef long long version
    cdef double weight
    cdef long long n_active, n_inactive
    cdef int[::1] feature, child, sides
    cdef double[::1] threshold, weights
    cdef long long[::1] versions
    cdef list leaves, homes, parts

    cdef build(self, dict places)

    @cython.locals(home=list, side=Py_ssize_t)
    cdef bint is_in_place(self, Py_ssize_t number) except -1


@cython.final
cdef class CompactTrees:
    cdef list _copies
    cdef dict _places, _known
    cdef tuple _classes
    cdef Py_ssize_t _turn
    cdef Voting _voting
    cdef const double[::1] _numbers
    cdef double[::1] _x
    cdef bint _has_x
    cdef object _columns
    cdef list _unchanged
    cdef int[::1] _first, _last, _lo, _hi, _waiting
    cdef Py_ssize_t _n_lines
    cdef object _first_name
    cdef const double[::1] _firsts

    cpdef vote(self, Walker walker, trees, list forms, tuple classes, cache)

    @cython.locals(had_x=bint, k=Py_ssize_t, n_points=Py_ssize_t)
    cpdef vote_all(self, list asked, trees, list forms, tuple classes, cache)

    cpdef set_lines(self, name, firsts)

    @cython.locals(had_x=bint)
    cdef _vote(self, Walker walker, trees, list forms, tuple classes, cache)

    @cython.locals(row=Py_ssize_t, copy=CompactTree)
    cdef bint _count(
        self, Walker walker, Py_ssize_t n_trees, cache, votes, Py_ssize_t start
    ) except -1

    @cython.locals(row=Py_ssize_t, copy=CompactTree, copies=list, is_new=bint)
    cdef bint _follow(self, trees, list forms, bint had_x) except -1

    @cython.locals(weight=double, before=double, n_active=cython.longlong,
                   n_inactive=cython.longlong, same_leaves=bint, period=double)
    cdef _update(self, CompactTree copy, bint had_x)

    @cython.locals(node=int, number=int, feature=cython.int[::1], child=cython.int[::1],
                   threshold=cython.double[::1], x=cython.double[::1], parts=ClassifierLeaf,
                   before=double, gained=double)
    cdef bint _took_all(self, CompactTree copy, double weight) except -1

    @cython.locals(parts=ClassifierLeaf)
    cdef ClassifierLeaf _read(self, CompactTree copy, Py_ssize_t number)

    @cython.locals(place=Py_ssize_t, x=dict, places=dict)
    cdef bint _take(self, points) except -1

    @cython.locals(node=int, place=int, top=int, lo=int, hi=int, k=int, is_right=bint, limit=double,
                   n_places=int, feature=cython.int[::1], child=cython.int[::1],
                   threshold=cython.double[::1], x=cython.double[::1],
                   lo_of=cython.int[::1], hi_of=cython.int[::1], parts=ClassifierLeaf)
    cdef bint _walk(self, CompactTree copy, Py_ssize_t row) except -1

    @cython.locals(waiting=cython.int[::1])
    cdef int _wait(self, int top, int node, int place, int lo, int hi) noexcept

    @cython.locals(node=int, place=int, own=int, lo=int, hi=int, k=int, limit=double,
                   feature=cython.int[::1], child=cython.int[::1],
                   threshold=cython.double[::1], x=cython.double[::1], waiting=cython.int[::1],
                   parts=ClassifierLeaf)
    cdef bint _off_path(self, CompactTree copy, Py_ssize_t row, int top) except -1

    @cython.locals(node=int, place=int, first=int, second=int, top=int, line=int, end=int, lo=int,
                   hi=int, k=int, number=Py_ssize_t, limit=double, feature=cython.int[::1],
                   child=cython.int[::1], threshold=cython.double[::1], x=cython.double[::1],
                   waiting=cython.int[::1], parts=ClassifierLeaf)
    cdef bint _walk_lines(self, CompactTree copy, Py_ssize_t row) except -1

    @cython.locals(parts=ClassifierLeaf)
    cdef ClassifierLeaf _leaf(self, CompactTree copy, Py_ssize_t number)
