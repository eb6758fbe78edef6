# The types of differences.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport isfinite, isnan, sqrt

cdef double _ROUNDING, LARGEST_ANSWER, _MOST_STD, _SUDDEN, _LARGEST, _FALL, _ABOUT, _WANDERING, _INFINITY
cdef double FEWEST, UNUSUAL, CLEAR, HIDDEN

@cython.locals(n=Py_ssize_t, n_columns=Py_ssize_t, width=Py_ssize_t, fits=bint, o=Py_ssize_t, k=Py_ssize_t,
               column=Py_ssize_t, f=Py_ssize_t, place=Py_ssize_t, limit=double, said=double, moved=double)
cpdef compare(const double[:, :, :] earlier, const double[:, :, :] answer, const Py_ssize_t[::1] cells,
              const Py_ssize_t[::1] outputs, const double[:, ::1] weights, const Py_ssize_t[::1] rows,
              double[:, :, :, ::1] difference, double[:, :, :, ::1] then, unsigned char[:, ::1] counts)

@cython.locals(k=Py_ssize_t, fits=bint)
cdef bint _are_below(const Py_ssize_t[::1] numbers, Py_ssize_t limit) noexcept

@cython.locals(k=Py_ssize_t, column=Py_ssize_t, largest=double, size=double)
cdef double _largest(const double[:, :, :] earlier, Py_ssize_t label) noexcept

@cython.locals(width=Py_ssize_t, f=Py_ssize_t, o=Py_ssize_t, k=Py_ssize_t, level=double, is_fine=bint, is_there=bint)
cdef void _centre(double[:, :, :, ::1] difference, double[:, :, :, ::1] then, const double[:, ::1] weights,
                  Py_ssize_t row, unsigned char[:, ::1] counts) noexcept

@cython.locals(half=Py_ssize_t, product=double)
cdef double _weighted(const double[::1] values, const double[::1] weights, Py_ssize_t first, Py_ssize_t stop) noexcept

@cython.locals(n_rows=Py_ssize_t, n_outputs=Py_ssize_t, n_features=Py_ssize_t, width=Py_ssize_t, moves=bint, fits=bint,
               row=Py_ssize_t, f=Py_ssize_t, o=Py_ssize_t, k=Py_ssize_t, part=Py_ssize_t, is_old=bint, is_recent=bint, value=double)
cpdef bint sum_up(const double[:, :, :, ::1] difference, const unsigned char[:, ::1] counts,
                  const Py_ssize_t[:, ::1] ages, const unsigned char[::1] is_young, Py_ssize_t recent,
                  double[:, ::1] n, double[:, :, :, :, ::1] sums) except -1

@cython.locals(n_rows=Py_ssize_t, n_outputs=Py_ssize_t, n_features=Py_ssize_t, width=Py_ssize_t, fits=bint,
               f=Py_ssize_t, n=Py_ssize_t, row=Py_ssize_t, o=Py_ssize_t, k=Py_ssize_t, mean=double, square=double,
               value=double)
cpdef fold_outputs(const double[:, :, :, ::1] then, const unsigned char[:, ::1] counts, const double[:, ::1] weights,
                   double share, double[:, :, ::1] moments)

@cython.locals(n_windows=Py_ssize_t, n_features=Py_ssize_t, width=Py_ssize_t, fits=bint, number=Py_ssize_t,
               n_checks=Py_ssize_t, which=Py_ssize_t, k=Py_ssize_t, f=Py_ssize_t, part=Py_ssize_t, o=Py_ssize_t,
               place=Py_ssize_t)
cpdef add_windows(const double[:, :, ::1] kept_n, const double[:, :, :, :, :, ::1] kept, const Py_ssize_t[::1] ages,
                  tuple windows, double[:, ::1] n, double[:, :, :, :, ::1] sums)

@cython.locals(n_windows=Py_ssize_t, n_features=Py_ssize_t, n_outputs=Py_ssize_t, fits=bint, number=Py_ssize_t,
               f=Py_ssize_t, o=Py_ssize_t)
cpdef measure(const double[:, ::1] n, double[:, :, :, :, ::1] sums, const double[:, ::1] weights,
              const double[:, ::1] std, double[:, :, :, ::1] sizes)

@cython.locals(k=Py_ssize_t, part=Py_ssize_t, mean=double, square=double, error=double, errors=double, largest=double,
               total=double)
cdef void _size(double n, double[:, :, :, :, ::1] sums, const double[:, ::1] weights, double std,
                double[:, :, :, ::1] sizes, Py_ssize_t number, Py_ssize_t f, Py_ssize_t o) noexcept

@cython.locals(n_windows=Py_ssize_t, n_features=Py_ssize_t, n_outputs=Py_ssize_t, fits=bint, numbers="double[:, ::1]",
               which="Py_ssize_t[:, ::1]", f=Py_ssize_t, o=Py_ssize_t, sort=Py_ssize_t, window=Py_ssize_t,
               best=Py_ssize_t, best_sort=Py_ssize_t, best_window=Py_ssize_t, best_ratio=double, ratio=double,
               is_usual=double, size=double, largest=double, in_units=double)
cpdef weigh(const double[:, :, :, ::1] sizes, const double[:, :, :, ::1] usual, const double[:, ::1] std,
            double tolerance, tuple found)

@cython.locals(least=double, ratio=double, clear=double)
cdef double _ratio(const double[:, :, :, ::1] sizes, const double[:, :, :, ::1] usual, double tolerance,
                   Py_ssize_t sort, Py_ssize_t window, Py_ssize_t f, Py_ssize_t o) noexcept

@cython.locals(f=Py_ssize_t, above=double, total=double)
cpdef add_up(const double[::1] ratio, const unsigned char[::1] is_going_on, double clock, double[::1] score)

@cython.locals(n_windows=Py_ssize_t, n_features=Py_ssize_t, n_outputs=Py_ssize_t, fits=bint, last=Py_ssize_t,
               sort=Py_ssize_t, f=Py_ssize_t, o=Py_ssize_t, window=Py_ssize_t, limit=double)
cpdef becoming(const double[:, :, :, ::1] sizes, const double[:, ::1] n, double[:, :, :, ::1] most)

@cython.locals(n_windows=Py_ssize_t, n_features=Py_ssize_t, n_outputs=Py_ssize_t, fits=bint, f=Py_ssize_t,
               sort=Py_ssize_t, window=Py_ssize_t, o=Py_ssize_t, step=double, rate=double)
cpdef learn(double[:, :, :, ::1] usual, Py_ssize_t[::1] n_usual, const double[:, :, :, ::1] sizes,
            const unsigned char[::1] rows, double up, double down)
