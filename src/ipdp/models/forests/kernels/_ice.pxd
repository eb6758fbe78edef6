# The types of ice.py, for Cython; Python does not read this file.
cimport cython

cdef int CATEGORICAL, MISSING_LEFT, OTHER_LEFT, ZERO_IS_MISSING, _ROWS, _WORTH, _NODES_A_ROW
cdef double ZERO

ctypedef packed struct Node:
    double threshold
    int left
    int feature
    int kind
    int unused


@cython.final
cdef class Walk:
    cdef Node[::1] nodes
    cdef int[::1] roots, outputs, set_start, axis_of, start, stop, lo, hi, cuts
    cdef unsigned char[::1] sets, ascending
    cdef int[:, ::1] pair_at, log, waiting, ended, rectangles
    cdef double[:, ::1] leaves, X, points, base, own
    cdef double[:, :, ::1] single, pair
    cdef int width, n_log, n_ended, n_rectangles, row, cut_row
    cdef bint has_pairs, has_cuts

    cpdef run(self, int first, int last)

    @cython.locals(end=int, tree=int, row=int)
    cdef void _run(self, int first, int last) noexcept nogil

    @cython.locals(n=int, same=bint, few=bint, known=int, axis=int, ascending=bint, row=int, column=int)
    cdef void _look(self, int first, int last) noexcept nogil

    @cython.locals(node=int, axis=int)
    cdef void _cut(self, int row) noexcept nogil

    @cython.locals(node=int, feature=int, axis=int, left=bint, k=int)
    cdef void _one(self, int tree, int row) noexcept nogil

    @cython.locals(flags=int)
    cdef inline bint _goes_left(self, int node, double value) noexcept nogil

    @cython.locals(flags=int, table=int, first=int, stop=int, category=int)
    cdef bint _is_left_category(self, int node, double value) noexcept nogil

    @cython.locals(first=int, last=int, k=int)
    cdef void _part(self, int node, int axis, bint left, int other, int lo, int hi) noexcept nogil

    @cython.locals(first=int, last=int, k=int, child=int, goes_left=bint)
    cdef void _part_any(self, int node, int axis, bint left, int other, int lo, int hi) noexcept nogil

    @cython.locals(special=int)
    cdef inline bint _in_order(self, int node, int axis) noexcept nogil

    @cython.locals(threshold=double, middle=int)
    cdef inline int _first_right(self, int node, int first, int last) noexcept nogil

    cdef inline int _end_of_run(self, int node, int axis, bint left, int first, int last) noexcept nogil

    @cython.locals(n=int)
    cdef inline void _narrow(self, int axis, int first, int last) noexcept nogil

    @cython.locals(n=int, axis=int)
    cdef inline void _undo(self, int length) noexcept nogil

    cdef inline void _leave(
        self, int node, int axis, int first, int last, int other, int lo, int hi
    ) noexcept nogil

    @cython.locals(n=int)
    cdef void _put(
        self, int node, int axis, int first, int last, int other, int lo, int hi
    ) noexcept nogil

    @cython.locals(begin=int, n=int, feature=int, left=bint, k=int)
    cdef void _go_down(self, int node, int axis, int first, int last) noexcept nogil

    cdef inline void _wait(self, int n, int node, int first, int last) noexcept nogil

    @cython.locals(other=int)
    cdef void _part_other(self, int node, bint left, int axis, int first, int last) noexcept nogil

    cdef inline double _value(self, int leaf, int k) noexcept nogil

    @cython.locals(at_x=double, difference=double, n=int, column=int)
    cdef void _add(self, int leaf, int output, int k) noexcept nogil

    @cython.locals(later=int, n=int, column=int, k=int)
    cdef void _add_pairs(self, int leaf, int output) noexcept nogil

    @cython.locals(axis=int, other=int, first=int, last=int, lo=int, hi=int, k=int)
    cdef void _take_back(self, int n, int later, int output) noexcept nogil

    cdef inline bint _is_pair(self, int axis, int other) noexcept nogil

    @cython.locals(node=int, axis=int, other=int, first=int, last=int, lo=int, hi=int, feature=int,
                   left=bint, k=int, rest=double)
    cdef void _take_down(self, int n, int leaf, int output) noexcept nogil

    @cython.locals(i=int, j=int, at=int, step=int, step_other=int, difference=double)
    cdef void _add_cells(
        self, int axis, int first, int last, int other, int lo, int hi, int output, int k, double rest
    ) noexcept nogil
