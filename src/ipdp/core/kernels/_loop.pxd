# The types of loop.py, for Cython; Python does not read this file.
cimport cython


cdef class EvenPoints:
    cdef public list spans, columns, versions, lows, highs

    @cython.locals(k=Py_ssize_t, moved=bint, versions=list)
    cpdef bint moved(self) except -1

    @cython.locals(number=Py_ssize_t, first=Py_ssize_t, stop=Py_ssize_t, k=Py_ssize_t, steps=double,
                   low=double, high=double)
    cpdef write(self, double[::1] row)

@cython.locals(k=Py_ssize_t, first=Py_ssize_t, stop=Py_ssize_t, storages_of=list, updates=list, even=EvenPoints)
cpdef Py_ssize_t take_in_many(list values, list asked, tuple part, tuple takers, tuple points,
                              list positions) except -1

@cython.locals(values=list, own=dict, is_dict=bint)
cpdef list numbers_of(x, tuple names, double limit)

cpdef bint are_numbers(list values, double limit) except -1
