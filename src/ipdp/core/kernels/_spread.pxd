# The types of spread.py, for Cython; Python does not read this file.
cimport cython

cdef double _BEYOND

cdef class SpreadStep:
    cdef public object groups, mean, spread, weight, squares, reference, frame, effect, effect_weight
    cdef public object total, total_spread, clock, density, density_weight, moved, shares, said, rest
    cdef public bint moves
    cdef public list lookups
    cdef Py_ssize_t left, right, best_left, best_right
    cdef double share, best, best_share
    cdef double[:, ::1] v_mean, v_spread, v_frame, v_effect, v_total, v_total_spread, v_moved
    cdef double[::1] v_weight, v_squares, v_reference, v_effect_weight, v_clock, v_said, v_rest
    cdef double[::1] v_density, v_density_weight, v_shares
    cdef Py_ssize_t[::1] v_numbers, v_starts, v_inners, v_stops, v_moving, v_places

    @cython.locals(n_outputs=Py_ssize_t)
    cdef _prepare(self)

    @cython.locals(g=Py_ssize_t, c=Py_ssize_t, away=double, step=double)
    cpdef bint strayed(self, const double[::1] positions) except -1

    @cython.locals(shape=bint)
    cpdef bint takes(self, const double[:, ::1] values, const double[:, ::1] positions) except -1

    @cython.locals(k=Py_ssize_t, o=Py_ssize_t, decays=list, weights=list, at="const double[::1]")
    cpdef Py_ssize_t fold_many(self, const double[:, :, ::1] values, const double[:, :, ::1] positions, list own,
                               tuple times, double[:, ::1] rests, Py_ssize_t first) except -1

    @cython.locals(is_known=bint)
    cpdef bint fold(self, const double[:, ::1] values, const double[::1] positions, list own, double decay,
                    double w) except -1

    @cython.locals(n_outputs=Py_ssize_t, g=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, moving=Py_ssize_t,
                   o=Py_ssize_t, c=Py_ssize_t, other=Py_ssize_t, total=double, value=double, away=double,
                   run=double, centre=double)
    cdef move(self, const double[:, ::1] values, const double[::1] positions)

    @cython.locals(n_outputs=Py_ssize_t, o=Py_ssize_t, g=Py_ssize_t, c=Py_ssize_t, left=double)
    cdef bint remains(self, const double[:, ::1] values, const double[::1] positions, list own, double decay,
                      double w) except -1

    @cython.locals(x=double)
    cdef count(self, value, Py_ssize_t g, double w)

    @cython.locals(x=double)
    cdef read_off(self, const double[:, ::1] values, const double[::1] positions, value, Py_ssize_t g)

    @cython.locals(column=Py_ssize_t)
    cdef Py_ssize_t column_of(self, value, Py_ssize_t g) except -2

    @cython.locals(x=double, largest=double, share=double, left=double, rise=double, o=Py_ssize_t)
    cdef locate(self, const double[:, ::1] values, value, Py_ssize_t g)

    @cython.locals(o=Py_ssize_t, said=double, left=double)
    cdef subtract(self, Py_ssize_t number, double decay, double w)

    cdef consider(self, double doubt)

    @cython.locals(before=Py_ssize_t, left=Py_ssize_t, right=Py_ssize_t, after=Py_ssize_t, c=Py_ssize_t,
                   share=double)
    cdef between(self, const double[::1] at, Py_ssize_t g, double x, bint known)

    @cython.locals(a=Py_ssize_t, b=Py_ssize_t, s=double, largest=double, o=Py_ssize_t)
    cdef double doubt(self, const double[:, ::1] values) except? -1

    @cython.locals(weight=double, share=double, value=double, delta=double, step=double, o=Py_ssize_t,
                   row=Py_ssize_t)
    cdef fold_total(self, double decay, double w)

    @cython.locals(n_columns=Py_ssize_t, c=Py_ssize_t, o=Py_ssize_t, delta=double, step=double, weight=double,
                   share=double)
    cdef fold_curves(self, double decay, double w)
