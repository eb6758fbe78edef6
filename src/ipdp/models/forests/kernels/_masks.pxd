# The types of masks.py, for Cython; Python does not read this file.
cimport cython

cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    static int ipdp_lowest(unsigned long long mask) { unsigned long at; _BitScanForward64(&at, mask); return (int)at; }
    #else
    #define ipdp_lowest(mask) __builtin_ctzll(mask)
    #endif
    """
    int _lowest "ipdp_lowest" (unsigned long long mask) noexcept nogil


# With pointers, and without a branch: so they go several numbers at a time.
cdef inline void _keep(double[::1] x, Py_ssize_t first, unsigned long long[::1] left, Py_ssize_t at, Py_ssize_t n,
                       double threshold, unsigned long long mask, int missing_left) noexcept nogil:
    cdef const double* number = &x[first]
    cdef unsigned long long* own = &left[at]
    cdef Py_ssize_t k
    if missing_left:
        for k in range(n):
            own[k] &= mask if number[k] > threshold else <unsigned long long>0xFFFFFFFFFFFFFFFF
    else:
        for k in range(n):
            own[k] &= <unsigned long long>0xFFFFFFFFFFFFFFFF if number[k] <= threshold else mask


cdef inline void _and(unsigned long long[::1] a, Py_ssize_t at_a, unsigned long long[::1] b, Py_ssize_t at_b,
                      unsigned long long[::1] to, Py_ssize_t at, Py_ssize_t n) noexcept nogil:
    cdef const unsigned long long* one = &a[at_a]
    cdef const unsigned long long* other = &b[at_b]
    cdef unsigned long long* both = &to[at]
    cdef Py_ssize_t k
    for k in range(n):
        both[k] = one[k] & other[k]


cdef inline void _differ(unsigned long long[::1] others, unsigned long long mask, double[::1] values, Py_ssize_t at,
                         double[::1] leaf, double[::1] apart, Py_ssize_t n) noexcept nogil:
    cdef const unsigned long long* left = &others[0]
    cdef const double* value = &values[at]
    cdef const double* own = &leaf[0]
    cdef double* to = &apart[0]
    cdef Py_ssize_t k
    for k in range(n):
        to[k] = value[_lowest(left[k] & mask)] - own[k]


cdef inline void _add(double[::1] numbers, double[::1] sums, Py_ssize_t at, Py_ssize_t n) noexcept nogil:
    cdef const double* number = &numbers[0]
    cdef double* own = &sums[at]
    cdef Py_ssize_t k
    for k in range(n):
        own[k] += number[k]


cdef int _ROWS
cdef unsigned long long _ALL


@cython.final
cdef class Masks:
    cdef int most
    cdef int[::1] outputs, value_start, features, group_start, tree_start, axis_of, start, stop
    cdef double[::1] values, thresholds, x, at, leaf, apart, sums
    cdef unsigned long long[::1] masks, left, of_points, before, after, others
    cdef unsigned char[::1] missing_left
    cdef double[:, ::1] X, points, base
    cdef double[:, :, ::1] single

    @cython.locals(end=int)
    cpdef run(self, int first, int last)

    @cython.locals(n_columns=int, n_outputs=int, feature=int, k=int, column=int, tree=int, output=int, at=int)
    cdef void _some(self, int first, int n) noexcept nogil

    @cython.locals(begin=int, n_groups=int, output=int, k=int, g=int, x=int, values=int, axis=int, at=Py_ssize_t)
    cdef void _one(self, int tree, int first, int n) noexcept nogil

    @cython.locals(column=int, stop=int, first_sum=int, mask="unsigned long long", k=int, leaf=int)
    cdef void _points(self, int group, int axis, int values, int output, int n) noexcept nogil

    @cython.locals(k=int, split=int, mask="unsigned long long", threshold=double)
    cdef void _rule_out(self, int group, double[::1] x, int first, unsigned long long[::1] left, int at,
                        int n) noexcept nogil
