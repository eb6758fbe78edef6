# The types of linear.py, for Cython; Python does not read this file.
cimport cython
from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject
from cpython.exc cimport PyErr_Occurred
from libc.math cimport exp

cdef double _FAR


# `numbers` is a dict, or of a subclass of it, which a dict's type would refuse, or has `get` at least.
cdef inline double number_of(object numbers, object name) except? -1.0:
    cdef PyObject* found
    if not isinstance(numbers, dict):
        return numbers.get(name, 0.0)
    found = PyDict_GetItemWithError(numbers, name)
    if found is NULL:
        if PyErr_Occurred() is not NULL:
            raise
        return 0.0
    return <double><object>found


@cython.locals(spread=double, centre=double, value=double, squared=bint, lo=Py_ssize_t,
               hi=Py_ssize_t, column=Py_ssize_t, place=Py_ssize_t, scaled_x=dict,
               table=cython.double[::1])
cpdef tuple scaled(dict x, numbers, list places, tuple scale)

cdef double _centre(centres, name) except? -1.0

cdef double _spread(spreads, name, bint squared) except? -1.0

cdef class LinearStep:
    cdef public tuple names
    cdef public object places, totals, values, rest, alone, own
    cdef Py_ssize_t[:, ::1] v_places
    cdef Py_ssize_t[::1] v_alone
    cdef double[::1] v_totals, v_values, v_rest, v_own

    cpdef sums(self, dict x, weights, double intercept, numbers, list scales)

    cpdef shares(self, dict x, weights, double intercept, numbers, list scales)

    @cython.locals(n=Py_ssize_t, n_own=Py_ssize_t, k=Py_ssize_t, column=Py_ssize_t, number=Py_ssize_t,
                   place=Py_ssize_t, at=Py_ssize_t, lo=Py_ssize_t, hi=Py_ssize_t, before=double,
                   done=Py_ssize_t, own=cython.double[::1], values=cython.double[::1], rest=cython.double[::1],
                   totals=cython.double[::1], places="Py_ssize_t[:, ::1]")
    cdef _add_up(self, dict x, weights, double intercept, const double[::1] numbers, list scales)

    @cython.locals(k=Py_ssize_t, place=Py_ssize_t, n_places=Py_ssize_t, column=Py_ssize_t, centre=double,
                   spread=double, squared=bint, is_asked=bint,
                   values=cython.double[::1], totals=cython.double[::1], places="Py_ssize_t[:, ::1]")
    cdef _scale(self, Py_ssize_t n_own, tuple scale)

@cython.locals(n=Py_ssize_t, column=Py_ssize_t, total=double, share=double,
               shares=cython.double[:, ::1])
cpdef logistic(const double[::1] sums)
