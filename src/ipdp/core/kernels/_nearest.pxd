# The types of nearest.py, for Cython; Python does not read this file.
cimport cython

cdef class NearestPoints:
    cdef public double slack
    cdef public Py_ssize_t n_features
    cdef public object firsts, knots
    cdef Py_ssize_t[::1] v_firsts
    cdef double[::1] v_knots

    @cython.locals(n=Py_ssize_t, k=Py_ssize_t, fits=bint)
    cpdef find(self, list positions, list spans, Py_ssize_t[:, ::1] columns, unsigned char[:, ::1] within)

    @cython.locals(knots="double[::1]", firsts="Py_ssize_t[::1]", k=Py_ssize_t, row=Py_ssize_t, start=Py_ssize_t,
                   stop=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, column=Py_ssize_t, best=Py_ssize_t,
                   place=Py_ssize_t, ascends=bint, knot=double, least=double, distance=double, low=double,
                   high=double, slack=double)
    cdef _find(self, const double[:] positions, list spans, Py_ssize_t[::1] columns, unsigned char[::1] within)
