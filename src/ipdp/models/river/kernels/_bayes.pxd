# The types of bayes.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport exp, log, sqrt

cdef double _SQRT_TAU, _LEAST


@cython.final
cdef class Density:
    cdef double mean, deviation

    @cython.locals(distance=double)
    cdef double term(self, double value) noexcept


@cython.locals(names=tuple, places=list, totals=cython.double[:, ::1], n=Py_ssize_t,
               at_x=cython.double[::1], rest=cython.double[::1], row=Py_ssize_t, densities=list,
               density=Density, k=Py_ssize_t, column=Py_ssize_t, prior=double, before=double,
               done=Py_ssize_t, place=Py_ssize_t, at=Py_ssize_t, lo=Py_ssize_t, hi=Py_ssize_t)
cpdef bayes(dict x, tuple order, list gaussians, list priors, const double[::1] numbers)
