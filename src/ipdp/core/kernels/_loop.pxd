# The types of loop.py, for Cython; Python does not read this file.
cimport cython
from ipdp.core.kernels._spread cimport SpreadStep as Step
from ipdp.core.kernels._sums cimport SmoothingStep as Means

cdef class FoldStep:
    cdef public object means
    cdef public tuple spreads
    cdef public Means smoothing
    cdef public list steps
    cdef public bint are_alike

    @cython.locals(k=Py_ssize_t)
    cpdef bint serves(self) except -1

    @cython.locals(n=Py_ssize_t, is_known=bint, w=double, one=tuple, positions_of=object, positions="const double[:, ::1]",
                   values="const double[:, ::1]")
    cpdef Py_ssize_t fold(self, list observations) except -1

    @cython.locals(k=Py_ssize_t, step=Step)
    cdef bint takes(self, const double[:, ::1] values, const double[:, ::1] positions) except -1

    @cython.locals(k=Py_ssize_t, step=Step, decay=double, is_known=bint)
    cdef bint fold_spreads(self, const double[:, ::1] values, const double[:, ::1] positions, list own, double w,
                           t) except -1

@cython.locals(n=Py_ssize_t, n_rows=Py_ssize_t, k=Py_ssize_t, row=Py_ssize_t, at=Py_ssize_t, first=Py_ssize_t,
               size=Py_ssize_t, n_weights=Py_ssize_t, fits=bint, is_even=bint, same=bint, left=double,
               mean="const double[:, :]", spread="const double[:, :]", weight="const double[:]",
               squares="const double[:]", to_weight="double[::1]", to_squares="double[::1]",
               to_mean="double[:, ::1]", to_spread="double[:, ::1]")
cpdef tuple side_by_side(list parts, const Py_ssize_t[:] columns)


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
