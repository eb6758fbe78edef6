# The types of news.py, for Cython; Python does not read this file.
cimport cython
from libc.math cimport isnan

cdef double _SUDDEN, _LARGEST, _FALL, _ABOUT, _WANDERING, _INFINITY, FEWEST, UNUSUAL, CLEAR, HIDDEN

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
cpdef becoming(const double[:, :, :, ::1] sizes, const double[:, ::1] n, const unsigned char[::1] is_going_on,
               double[:, :, :, ::1] most, unsigned char[::1] known)

@cython.locals(n_windows=Py_ssize_t, n_features=Py_ssize_t, n_outputs=Py_ssize_t, fits=bint, f=Py_ssize_t,
               sort=Py_ssize_t, window=Py_ssize_t, o=Py_ssize_t, step=double, rate=double)
cpdef learn(double[:, :, :, ::1] usual, Py_ssize_t[::1] n_usual, const double[:, :, :, ::1] sizes,
            const unsigned char[::1] known, const unsigned char[::1] is_going_on, double up, double down)
