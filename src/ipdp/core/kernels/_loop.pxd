# The types of loop.py, for Cython; Python does not read this file.
cimport cython


cdef inline bint _is_below(a, b) except -1:
    if type(a) is float and type(b) is float:
        return <double> a < <double> b
    return a < b


cdef inline Py_ssize_t bisect_left(list values, x) except -1:
    cdef Py_ssize_t middle, lo = 0, hi = len(values)
    while lo < hi:
        middle = (lo + hi) // 2
        if _is_below(values[middle], x):
            lo = middle + 1
        else:
            hi = middle
    return lo


cdef inline Py_ssize_t bisect_right(list values, x) except -1:
    cdef Py_ssize_t middle, lo = 0, hi = len(values)
    while lo < hi:
        middle = (lo + hi) // 2
        if _is_below(x, values[middle]):
            hi = middle
        else:
            lo = middle + 1
    return lo


cpdef fold_in(smoothing, tuple parts, double decay, double w)

@cython.locals(k=Py_ssize_t, first=Py_ssize_t, column=Py_ssize_t, n_columns=Py_ssize_t, n_weights=Py_ssize_t,
               fits=bint, mean=cython.double[:, ::1], spread=cython.double[:, ::1],
               weights=cython.double[::1], squares=cython.double[::1], shares=cython.double[::1],
               rows=tuple, values="const double[:, :]")
cpdef fold_many(smoothing, list parts, list decays, list w)

@cython.locals(k=Py_ssize_t)
cdef void _share_out(double[::1] weights, double[::1] squares, double[::1] shares, double decay, double w) noexcept

@cython.locals(row=Py_ssize_t, column=Py_ssize_t, n_weights=Py_ssize_t, weight=double, delta=double, step=double)
cdef void _fold_rows(double[:, ::1] mean, double[:, ::1] spread, double[::1] weights, double[::1] shares,
                     const double[:, :] values, Py_ssize_t first, double decay) noexcept

@cython.locals(k=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t, n=Py_ssize_t, n_columns=Py_ssize_t,
               n_rows=Py_ssize_t, n_values=Py_ssize_t, fits=bint,
               weight=double, share=double, delta=double, step=double,
               mean=cython.double[:, ::1], spread=cython.double[:, ::1],
               weights=cython.double[::1], squares=cython.double[::1])
cpdef fold_at(smoothing, const double[:, :] values, list columns, double decay, double w)

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

cdef class EvenPoints:
    cdef public list spans, columns, versions, lows, highs

    @cython.locals(k=Py_ssize_t, moved=bint, versions=list)
    cpdef bint moved(self) except -1

    @cython.locals(number=Py_ssize_t, first=Py_ssize_t, stop=Py_ssize_t, k=Py_ssize_t, steps=double,
                   low=double, high=double)
    cpdef write(self, double[::1] row)

@cython.locals(values=list)
cpdef list numbers_of(x, tuple names, double limit)

cdef class Sample:
    cdef public Py_ssize_t n, version, oldest, size
    cdef public bint whole
    cdef public double probability
    cdef public str select
    cdef public list ordered, circle
    cdef public object uniforms

    @cython.locals(ordered=list)
    cpdef offer(self, x)

    @cython.locals(circle=list, at=Py_ssize_t)
    cdef _exchange(self, x)

    @cython.locals(ordered=list, last=Py_ssize_t, rank=double, rank_high=double, below=Py_ssize_t,
                   below_high=Py_ssize_t)
    cpdef tuple interval(self, double lower, double upper)


cdef class Extremes:
    cdef public Py_ssize_t n, version, window
    cdef public bint whole
    cdef public object smallest, largest, recent

    @cython.locals(n=Py_ssize_t, oldest=Py_ssize_t)
    cpdef offer(self, x)

    cpdef tuple ends(self)

cdef class QuantileSpan:
    cdef public object sample
    cdef public double lower, upper

    cpdef tuple ends(self)

cdef class Watch:
    cdef public object storage, span, owner, whole
    cdef public Py_ssize_t version
    cdef public double low_from, low_to, high_from, high_to

    cpdef expect(self, whole, tuple bounds)

    @cython.locals(n=Py_ssize_t, low=double, high=double, stays=bint)
    cpdef offer(self, x)

cdef class Versions:
    cdef public list watched, versions

    @cython.locals(k=Py_ssize_t, changed=bint, versions=list)
    cpdef bint changed(self) except -1

@cython.locals(k=Py_ssize_t)
cpdef take_in(list values, list storages, list updates)

cpdef bint is_whole(x) except -1

@cython.locals(used=Py_ssize_t, number=double)
cpdef double draw(uniforms) except? -1
