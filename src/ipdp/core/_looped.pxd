# The types of looped.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport isfinite


@cython.locals(k=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t, weight=double, share=double, delta=double,
               step=double, mean=cython.double[:, ::1], spread=cython.double[:, ::1],
               weights=cython.double[::1], squares=cython.double[::1])
cpdef fold_in(smoothing, const double[:, ::1] values, double decay, double w)

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t)
cpdef bint is_finite(const double[:, :, :] values) except -1

cpdef bint are_numbers(list values, double limit) except -1

@cython.locals(first=Py_ssize_t, stop=Py_ssize_t, k=Py_ssize_t, steps=double, low=double, high=double)
cpdef spread_out(double[::1] points, list spans, list ends)
