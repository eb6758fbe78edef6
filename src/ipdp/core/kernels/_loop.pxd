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

@cython.locals(k=Py_ssize_t)
cpdef take_in(list values, list storages, list updates)

cpdef bint is_whole(x) except -1

@cython.locals(used=Py_ssize_t, number=double)
cpdef double draw(uniforms) except? -1
