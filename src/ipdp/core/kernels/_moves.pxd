# The types of moves.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport asinh, exp, isnan, log, log1p, sqrt

cdef int _MISSING, _PLACE, _WIDTH
cdef double LINEAR, _NARROWEST, _LOW_END, _HIGH_END
cdef Py_ssize_t _FEWEST_OF_HALF, _RECENT
cdef double _FEWEST, _FEWEST_INDEPENDENT, _BIAS, _BEYOND, _BEYOND_OF_FEW, _FEWEST_BEYOND, _INDEPENDENT_BEYOND
cdef double _CLUSTERS, _WIDEST, _HUGE, _SOON, _NEAR, _NAN
cdef int _COUNT, _MEAN, _SQUARES, _STEPS, _LAST, _LOW, _HIGH, _SUM, _KNOWN, _ALL
cdef int _IS_SHARE, _LEAST, _FIRST_SCALE, _WIDTH_OF

cdef object _LARGEST

@cython.locals(k=Py_ssize_t, f=Py_ssize_t, row=object, value=object, number=double)
cpdef bint take_numbers(list rows, list is_category, double[:, ::1] values) except -1

@cython.locals(n=Py_ssize_t, n_features=Py_ssize_t, fits=bint, has_seasons=bint, own=object, room="double[::1]",
               f=Py_ssize_t, k=Py_ssize_t, missing=Py_ssize_t, count=Py_ssize_t, total=double, scaled=double,
               place=double, width=double, other=double, column=Py_ssize_t)
cpdef read_block(const double[:, :] values, const double[:, ::1] scale, const double[::1] periods,
                 const double[:, :] season, double[:, ::1] read)

@cython.locals(count=Py_ssize_t, k=Py_ssize_t, at=Py_ssize_t, value=double, width=double)
cdef double _log_width(double[::1] room, Py_ssize_t first, Py_ssize_t stop) noexcept

@cython.locals(at=double, left=Py_ssize_t, right=Py_ssize_t, low=double, step=double)
cdef double _quantile(double[::1] room, Py_ssize_t first, Py_ssize_t count, double share) noexcept

cdef Py_ssize_t _RUN, _LONGEST, _RUNS, _DOWN, _UP, _BLOCKS, _MANY_RUNS, _TIMES, _LONGER, _STEPS, _MANY_BLOCKS

@cython.locals(n_features=Py_ssize_t, is_new=bint, f=Py_ssize_t, k=Py_ssize_t, before=double, value=double,
               step=double, stuck=Py_ssize_t, down=Py_ssize_t, up=Py_ssize_t, grows=Py_ssize_t)
cpdef bint count_runs(const double[:, :] values, double[::1] last, Py_ssize_t[:, ::1] counts,
                      Py_ssize_t[:, ::1] said) except -1

@cython.locals(past="double[:, :, ::1]", opened="double[:, :, ::1]", newest="double[:, :, ::1]", means="double[::1]",
               kinds="double[:, ::1]", ages="double[:, ::1]", lags="Py_ssize_t[::1]", n=Py_ssize_t,
               n_scales=Py_ssize_t, n_series=Py_ssize_t, fits=bint, k=Py_ssize_t, s=Py_ssize_t, size=Py_ssize_t,
               found=double, bound=double, per_value=double, has_moved=bint)
cpdef bint advance(scales, const double[::1] values, double[::1] ratio, Py_ssize_t[::1] at_scale) except -1

@cython.locals(part=Py_ssize_t)
cdef void _add(double[:, :, ::1] opened, Py_ssize_t k, Py_ssize_t s, double value) noexcept

@cython.locals(known=double, mean=double)
cdef double _mean(double[:, :, ::1] opened, Py_ssize_t k, Py_ssize_t s, double size) noexcept

@cython.locals(difference=double, count=double, mean=double, squares=double, variance=double, apart=double,
               independent=double, wider=double, distance=double, z=double, allowed=double, found=double,
               low=double, high=double, beyond=double)
cdef double _moved(double[:, :, ::1] past, double[:, :, ::1] newest, double[::1] means, double[:, ::1] kinds,
                   double[:, ::1] ages, double bound, double per_value, Py_ssize_t k, Py_ssize_t s) noexcept

@cython.locals(count=double, away=double, limit=double, half=Py_ssize_t, off=double)
cdef bint _is_worth_a_test(double[:, :, ::1] past, double[:, :, ::1] newest, double[:, ::1] kinds,
                           double[:, ::1] ages, double difference, Py_ssize_t k, Py_ssize_t s) noexcept

@cython.locals(known=Py_ssize_t, total=double, now=double, block=Py_ssize_t)
cdef double _wider(double[:, :, ::1] past, double[:, :, ::1] newest, double[::1] means, Py_ssize_t width,
                   Py_ssize_t k) noexcept

@cython.locals(size=double, events=double, share=double, chance=double, deviance=double, distance=double)
cdef double _share_distance(double count, double mean, double newest, double variance, double per_value,
                            Py_ssize_t k) noexcept

cdef double _surprise(double share, double expected) noexcept

@cython.locals(exact=double)
cdef double _as_normal(double t, double freedom) noexcept

@cython.locals(old=double, block=Py_ssize_t, count=double, difference=double, step=double)
cdef void _remember(double[:, :, ::1] past, double[:, :, ::1] newest, Py_ssize_t lag, Py_ssize_t k, Py_ssize_t s,
                    double mean) noexcept
