# The types of watch.py, for Cython; Python does not read this file.
cimport cython

cdef class Watch:
    cdef public object storage, span, owner, whole
    cdef public Py_ssize_t version
    cdef public double low_from, low_to, high_from, high_to

    cpdef expect(self, whole, tuple bounds)

    @cython.locals(n=Py_ssize_t, low=double, high=double, stays=bint)
    cpdef offer(self, x)

@cython.locals(n=Py_ssize_t, changed=bint, number_of=dict)
cpdef bint count_in(counts, x) except -1

cdef class CountWatch:
    cdef public object storage, counts, kind, owner
    cdef public Py_ssize_t version

    cpdef offer(self, x)

cdef class Versions:
    cdef public list watched, versions

    @cython.locals(k=Py_ssize_t, changed=bint, versions=list)
    cpdef bint changed(self) except -1
