# The types of bins.py, for Cython; Python does not read this file.
cimport cython

cdef class Locator:
    cdef tuple shape
    cdef Py_ssize_t n_effects, n_slots, n_numbers, n_categories
    cdef list orders, places
    cdef double[::1] points
    cdef Py_ssize_t[::1] starts, firsts, counts

    @cython.locals(some=bint, slot=Py_ssize_t, axis=Py_ssize_t, number=Py_ssize_t, column=Py_ssize_t, effect=Py_ssize_t, start=Py_ssize_t,
                   k=Py_ssize_t, last=Py_ssize_t, low=Py_ssize_t, middle=Py_ssize_t, high=Py_ssize_t,
                   row=cython.double[:, ::1], found="Py_ssize_t[::1]")
    cpdef tuple locate(self, list values)

    @cython.locals(start=Py_ssize_t, low=Py_ssize_t, middle=Py_ssize_t, high=Py_ssize_t)
    cdef Py_ssize_t bin_of(self, Py_ssize_t axis, double value) noexcept
