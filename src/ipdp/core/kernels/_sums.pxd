# The types of sums.py, for Cython; Python does not read this file.
cimport cython

cpdef fold_in(smoothing, tuple parts, double decay, double w)

cdef Py_ssize_t _TOGETHER

@cython.locals(k=Py_ssize_t, n=Py_ssize_t, first=Py_ssize_t, n_columns=Py_ssize_t, n_weights=Py_ssize_t,
               start=Py_ssize_t, stop=Py_ssize_t, at=Py_ssize_t, one=Py_ssize_t, fits=bint,
               mean=cython.double[:, ::1], spread=cython.double[:, ::1],
               weights=cython.double[::1], squares=cython.double[::1], shares=cython.double[::1],
               values="const double[:, :, ::1]")
cpdef fold_many(smoothing, tuple parts, list decays, list w)

@cython.locals(k=Py_ssize_t, share=double, weight=double)
cdef void _share_out(double[::1] weights, double[::1] squares, double[::1] shares, Py_ssize_t start, Py_ssize_t n,
                     double decay, double w) noexcept

@cython.locals(row=Py_ssize_t, column=Py_ssize_t, n=Py_ssize_t, delta=double, step=double)
cdef void _fold_rows(double[:, ::1] mean, double[:, ::1] spread, double[::1] shares, Py_ssize_t start,
                     const double[:, ::1] values, Py_ssize_t first, double decay) noexcept

cdef class SmoothingStep:
    cdef public object smoothing, mean, spread, weight, squares, shares
    cdef double[:, ::1] v_mean, v_spread
    cdef double[::1] v_weight, v_squares, v_shares

    cpdef bint serves(self, smoothing) except -1

    @cython.locals(decay=double)
    cpdef fold(self, const double[:, ::1] positions, const double[:, ::1] values, double w, t)

    @cython.locals(n_columns=Py_ssize_t, n_axes=Py_ssize_t, fits=bint, shares=cython.double[::1])
    cdef _fold(self, const double[:, ::1] positions, const double[:, ::1] values, double decay, double w)

@cython.locals(one=Py_ssize_t, k=Py_ssize_t, n_columns=Py_ssize_t, n_rows=Py_ssize_t, n_values=Py_ssize_t, fits=bint,
               mean=cython.double[:, ::1], spread=cython.double[:, ::1],
               weights=cython.double[::1], squares=cython.double[::1])
cpdef fold_at(smoothing, const double[:, :, :] values, const Py_ssize_t[:, :] columns, list decays, list w)

@cython.locals(k=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t, n_columns=Py_ssize_t, n_rows=Py_ssize_t,
               n_values=Py_ssize_t, weight=double, share=double, delta=double, step=double)
cdef void _fold_columns(double[:, ::1] mean, double[:, ::1] spread, double[::1] weights, double[::1] squares,
                        const double[:, :] values, const Py_ssize_t[:] columns, double decay, double w) noexcept

cdef double _LEAST_SCALE

@cython.locals(g=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t, row=Py_ssize_t, n=Py_ssize_t, n_axes=Py_ssize_t,
               n_groups=Py_ssize_t, n_rows=Py_ssize_t, one=tuple,
               w=double, t=double, mean=cython.double[:, :, ::1], spread=cython.double[:, :, ::1],
               weights=cython.double[:, ::1], squares=cython.double[:, ::1], times=cython.double[::1],
               scale=cython.double[::1], weight=double, last=double, share=double, delta=double, step=double, positions_of=object, columns_of=object,
               positions="const double[:, :]", values="const double[:, :]", at="const Py_ssize_t[::1]")
cpdef fold_groups(sums, list batch, double base)

@cython.locals(n_groups=Py_ssize_t, n_rows=Py_ssize_t, n_columns=Py_ssize_t, fits=bint)
cdef bint _fit(double[:, :, ::1] mean, double[:, :, ::1] spread, double[:, ::1] weights, double[:, ::1] squares,
               double[::1] times, double[::1] scale) noexcept

@cython.locals(j=Py_ssize_t)
cdef bint _are_columns(const Py_ssize_t[::1] at, Py_ssize_t n_columns) noexcept

@cython.locals(gap=double)
cdef void _age(double[::1] times, double[::1] scale, Py_ssize_t g, double t, double base) noexcept

@cython.locals(k=Py_ssize_t, row=Py_ssize_t, left=double)
cdef void _write_out(double[:, :, ::1] mean, double[:, :, ::1] spread, double[:, ::1] weights, double[:, ::1] squares,
                     double[::1] scale, Py_ssize_t g) noexcept

@cython.locals(column=Py_ssize_t, row=Py_ssize_t, gained=double, share=double, before=double, some=bint,
               fits=bint, n_rows=Py_ssize_t, n_columns=Py_ssize_t, one=cython.double[:, ::1],
               weight=cython.double[::1], mean=cython.double[:, ::1],
               start_weight=cython.double[::1], start_mean=cython.double[:, ::1],
               block_weight=cython.double[::1], block_mean=cython.double[:, ::1])
cpdef close_block(tuple now, tuple start, tuple block, double aged, double left)

@cython.locals(i=Py_ssize_t, j=Py_ssize_t, k=Py_ssize_t)
cpdef bint are_below(const double[:, :, :] values, double limit) except -1

@cython.locals(k=Py_ssize_t, at=Py_ssize_t, factor=double, other_factor=double, least=double, total=double,
               both=double)
cpdef tuple close_stratum(double[:, ::1] weights, Py_ssize_t n, tuple factors, tuple last)

@cython.locals(k=Py_ssize_t, row=Py_ssize_t)
cpdef join_strata(double[:, ::1] weights, Py_ssize_t n, Py_ssize_t at)
