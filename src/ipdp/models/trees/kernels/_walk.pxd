# The types of walk.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport floor, isnan

cdef int LEAF, NUMERIC, DEEPEST
cdef int IS_NUMBER, ASCENDING


cdef inline Py_ssize_t bisect_right(
    const double[::1] values, double threshold, Py_ssize_t lo, Py_ssize_t hi
) noexcept:
    cdef Py_ssize_t middle
    while lo < hi:
        middle = (lo + hi) // 2
        if threshold < values[middle]:
            hi = middle
        else:
            lo = middle + 1
    return lo


cdef class Walker:
    cdef public object points
    cdef object _kinds, _latest
    cdef int _kind, _depth
    cdef const double[::1] numbers
    cdef bint _adaptive
    cdef list _waiting, _alternates

    cdef int _kind_of(self, node) except -1

    @cython.locals(live=dict, comparable=dict, waiting=list, kind=int, adaptive=bint, threshold=double,
                   below=bint, span=tuple, lo=Py_ssize_t, hi=Py_ssize_t, k=Py_ssize_t)
    cdef tuple _path_of_x(self, node)

    @cython.locals(runs=list, comparable=dict, waiting=list, kind=int, adaptive=bint,
                   lo=Py_ssize_t, hi=Py_ssize_t, k=Py_ssize_t)
    cdef list _off_path(self)

    cdef _fork(self, node, dict live)
    cdef tuple _step(self, node, own, Py_ssize_t lo, Py_ssize_t hi)
    cdef list _parts(self, node, feature, Py_ssize_t lo, Py_ssize_t hi)
    cdef _count_again(self, child, list spans)


@cython.locals(k=Py_ssize_t)
cpdef bint in_order(const double[::1] numbers, bytes order, bytes whole) except -1

cpdef bint has_only_numbers(dict x) except -1
