# The types of bayes.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport exp, log, sqrt

cdef double _SQRT_TAU, _LEAST


@cython.final
cdef class Density:
    cdef double mean, deviation

    cpdef double term(self, double value)


@cython.final
cdef class ClassDensities:
    cdef object own, means, deviations, terms
    cdef double count
    cdef double[::1] v_means, v_deviations, v_terms


@cython.final
cdef class BayesStep:
    cdef tuple names
    cdef list known
    cdef object places, numbers, at_x, rest
    cdef Py_ssize_t[:, ::1] v_places
    cdef double[::1] v_numbers, v_at_x, v_rest

    @cython.locals(n_columns=Py_ssize_t, column=Py_ssize_t, row=Py_ssize_t, is_same=bint,
                   has_learned=bint, known=ClassDensities, totals=cython.double[:, ::1])
    cpdef sums(self, dict x, list gaussians, list counts, list priors, const double[::1] numbers)

    @cython.locals(k=Py_ssize_t, density=Density)
    cdef _read(self, ClassDensities known, own, double count)

    @cython.locals(place=Py_ssize_t, at=Py_ssize_t, lo=Py_ssize_t, hi=Py_ssize_t,
                   column=Py_ssize_t, mean=double, deviation=double,
                   places="Py_ssize_t[:, ::1]")
    cdef void _fill(self, ClassDensities known) noexcept

    @cython.locals(n=Py_ssize_t, k=Py_ssize_t, column=Py_ssize_t, before=double, done=Py_ssize_t,
                   place=Py_ssize_t, at=Py_ssize_t, lo=Py_ssize_t, hi=Py_ssize_t,
                   places="Py_ssize_t[:, ::1]", at_x=cython.double[::1],
                   rest=cython.double[::1])
    cdef _add_up(self, ClassDensities known, dict x, Py_ssize_t row, double prior,
                 double[:, ::1] totals)


@cython.locals(distance=double)
cdef double _term(double value, double mean, double deviation) noexcept

@cython.locals(n_classes=Py_ssize_t, column=Py_ssize_t, k=Py_ssize_t, highest=double, total=double)
cpdef softmax(double[:, ::1] sums)
