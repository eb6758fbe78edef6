# The types of storages.py, for Cython; Python does not read this file.
cimport cython
from libc.string cimport memmove


cdef inline Py_ssize_t _below(double[::1] numbers, Py_ssize_t n, double x, bint equal) noexcept:
    """How many of n numbers that ascend are below x, or also equal to it."""
    cdef Py_ssize_t middle, lo = 0, hi = n
    while lo < hi:
        middle = (lo + hi) // 2
        if numbers[middle] < x or (equal and numbers[middle] == x):
            lo = middle + 1
        else:
            hi = middle
    return lo


cdef inline _put_in(double[::1] numbers, Py_ssize_t n, double x):
    cdef Py_ssize_t at = _below(numbers, n, x, True)
    if not n < numbers.shape[0]:
        raise ValueError("there is no room for another value")
    memmove(&numbers[0] + at + 1, &numbers[0] + at, (n - at) * sizeof(double))
    numbers[at] = x


cdef inline _take_out(double[::1] numbers, Py_ssize_t n, double x):
    cdef Py_ssize_t at = _below(numbers, n, x, False)
    if not at < n or n > numbers.shape[0]:
        raise ValueError("there is no such value")
    memmove(&numbers[0] + at, &numbers[0] + at + 1, (n - at - 1) * sizeof(double))


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
    cdef public list circle
    cdef public object uniforms, numbers
    cdef public RandomBlock block
    cdef double[::1] v_numbers

    @cython.locals(n=Py_ssize_t)
    cpdef offer(self, x)

    @cython.locals(circle=list, at=Py_ssize_t)
    cdef _exchange(self, x)

    @cython.locals(last=Py_ssize_t, rank=double, rank_high=double, below=Py_ssize_t, below_high=Py_ssize_t)
    cpdef tuple interval(self, double lower, double upper)

    @cython.locals(low=double, above=double)
    cdef _at(self, Py_ssize_t below, double share)

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

cdef class GrowthWatch(Taker):
    cdef public object storage, counts, doubt, kind, owner
    cdef public bint may_stay

    @cython.locals(grows=bint)
    cpdef offer(self, x)

cdef class Versions:
    cdef public list watched, versions

    @cython.locals(k=Py_ssize_t, changed=bint, versions=list, taker=Taker, version=Py_ssize_t)
    cpdef bint changed(self) except -1
