# The types of storages.py, for Cython; Python does not read this file.
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


cdef class RandomBlock:
    cdef public object numbers
    cdef public Py_ssize_t used
    cdef double[::1] v_numbers

    cpdef fill(self, numbers)

cpdef double draw(RandomBlock block, uniforms) except? -1

cdef class Taker:
    cdef public Py_ssize_t version

    cpdef offer(self, x)

@cython.locals(k=Py_ssize_t, taker=Taker)
cpdef take_in(list values, list storages, list updates)

cpdef bint is_whole(x) except -1

cdef class Extremes(Taker):
    cdef public Py_ssize_t n, window
    cdef public bint whole
    cdef public object smallest, largest, recent

    @cython.locals(n=Py_ssize_t, oldest=Py_ssize_t)
    cpdef offer(self, x)

    cpdef tuple ends(self)

cdef class Sample(Taker):
    cdef public Py_ssize_t n, oldest, size
    cdef public bint whole
    cdef public double probability
    cdef public str select
    cdef public list ordered, circle
    cdef public object uniforms
    cdef public RandomBlock block

    @cython.locals(ordered=list)
    cpdef offer(self, x)

    @cython.locals(circle=list, at=Py_ssize_t)
    cdef _exchange(self, x)

    @cython.locals(ordered=list, last=Py_ssize_t, rank=double, rank_high=double, below=Py_ssize_t,
                   below_high=Py_ssize_t)
    cpdef tuple interval(self, double lower, double upper)

cdef class QuantileSpan:
    cdef public object sample
    cdef public double lower, upper

    cpdef tuple ends(self)

cdef class Watch(Taker):
    cdef public object storage, span, owner, whole
    cdef public double low_from, low_to, high_from, high_to

    cpdef expect(self, whole, tuple bounds)

    @cython.locals(n=Py_ssize_t, low=double, high=double, stays=bint, sample=Sample, whole=object)
    cpdef offer(self, x)

@cython.locals(n=Py_ssize_t, changed=bint, number_of=dict)
cpdef bint count_in(counts, x) except -1

cdef class CountWatch(Taker):
    cdef public object storage, counts, kind, owner

    cpdef offer(self, x)

cdef class Versions:
    cdef public list watched, versions

    @cython.locals(k=Py_ssize_t, changed=bint, versions=list, taker=Taker, version=Py_ssize_t)
    cpdef bint changed(self) except -1
