# The types of leaves.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport log

cdef double _NAN


cdef class ClassifierLeaf:
    cdef public object leaf, splitters, laid_out, places_of
    cdef public bint opaque, bayes
    cdef public Py_ssize_t number, turn, entered
    cdef public dict slots, general
    cdef public list names, gaussians, counted
    cdef public bytes places
    cdef public double scale, weight
    cdef double[::1] seen, votes, terms, at_x


@cython.locals(parts=ClassifierLeaf)
cpdef ClassifierLeaf parts_of(dict known, leaf, tree, tuple classes, Py_ssize_t turn)

@cython.locals(k=Py_ssize_t, seen=cython.double[::1], weight=double)
cdef bint _has_learned(ClassifierLeaf parts, dict stats, tuple classes) except -1

@cython.locals(kind=int, total=double, is_bayes=bint, share=double, k=Py_ssize_t, stats=dict,
               n_classes=Py_ssize_t)
cdef _read(ClassifierLeaf parts, tree, tuple classes)

cdef bint _is_bayes(leaf, tree, int kind, double total) except -1

@cython.locals(stats=dict, k=Py_ssize_t, weight=double)
cdef _read_bayes(ClassifierLeaf parts, double total, tuple classes)

cdef _lay_out(ClassifierLeaf parts, Py_ssize_t n_classes)

@cython.locals(start=Py_ssize_t, at=Py_ssize_t, distributions=dict, n=double, ddof=double,
               squares=double, variance=double)
cdef _read_gaussians(ClassifierLeaf parts, Py_ssize_t k, label)
