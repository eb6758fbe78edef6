# The types of differences.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport isfinite, isnan, sqrt

cdef double _ROUNDING, LARGEST_ANSWER, _MOST_STD, _INFINITY, FEWEST

@cython.locals(n=Py_ssize_t, n_columns=Py_ssize_t, fits=bint, k=Py_ssize_t, column=Py_ssize_t, label=Py_ssize_t,
               known=bint, positions="const double[:, :]", values="const double[:, :]")
cpdef gather(list records, const Py_ssize_t[:, ::1] columns, double[:, ::1] at, double[:, :, ::1] earlier)

@cython.locals(n_features=Py_ssize_t, fits=bint, f=Py_ssize_t, k=Py_ssize_t, begun=Py_ssize_t, is_renewed=bint,
               age=Py_ssize_t, youngest=Py_ssize_t, oldest=Py_ssize_t)
cpdef count_in(const Py_ssize_t[::1] numbers, Py_ssize_t newest, list since, list renewed, tuple limits,
               Py_ssize_t[:, ::1] ages, unsigned char[:, ::1] counts)

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

@cython.locals(n_rows=Py_ssize_t, n_outputs=Py_ssize_t, n_features=Py_ssize_t, width=Py_ssize_t, moves=bint, some=bint, fits=bint,
               row=Py_ssize_t, f=Py_ssize_t, o=Py_ssize_t, k=Py_ssize_t, part=Py_ssize_t, is_old=bint, is_recent=bint, value=double)
cpdef tuple sum_up(const double[:, :, :, ::1] difference, const unsigned char[:, ::1] counts,
                  const Py_ssize_t[:, ::1] ages, const unsigned char[::1] is_young, Py_ssize_t recent,
                  double[:, ::1] n, double[:, :, :, :, ::1] sums)

@cython.locals(n_rows=Py_ssize_t, n_outputs=Py_ssize_t, n_features=Py_ssize_t, width=Py_ssize_t, fits=bint,
               f=Py_ssize_t, n=Py_ssize_t, row=Py_ssize_t, o=Py_ssize_t, k=Py_ssize_t, mean=double, square=double,
               value=double)
cpdef fold_outputs(const double[:, :, :, ::1] then, const unsigned char[:, ::1] counts, const double[:, ::1] weights,
                   double share, double[:, :, ::1] moments, double[:, ::1] std)

@cython.locals(n=Py_ssize_t, n_places=Py_ssize_t, n_labels=Py_ssize_t, fits=bint, k=Py_ssize_t, size=Py_ssize_t,
               at=Py_ssize_t, place=Py_ssize_t, label=Py_ssize_t, left=Py_ssize_t, right=Py_ssize_t, x=double,
               low=double, high=double, y=double, y_next=double, positions="const double[:, :]",
               values="const double[:, :]")
cpdef read_at(list records, const Py_ssize_t[:, ::1] columns, const Py_ssize_t[::1] sizes,
              const double[:, :, :] answer, const double[::1] places, double[:, :, ::1] then, double[:, :, ::1] now)

@cython.locals(slope=double)
cdef double _between(double low, double high, double y, double y_next, double x) noexcept

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
