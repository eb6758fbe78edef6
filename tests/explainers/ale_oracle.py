"""Accumulated local effects by brute force, from Apley and Zhu (2020); no code of the library."""

from itertools import pairwise


def mean(values, weights):
    total = sum(weights)
    return sum(v * w for v, w in zip(values, weights, strict=True)) / total


def bin_of(edges, value):
    """The number of the bin (low, high] of a value; the first one has its lower end too."""
    if value is None or not edges[0] <= value <= edges[-1]:
        return None
    for k in range(1, len(edges)):
        if value <= edges[k]:
            return k - 1
    raise AssertionError


def first_order(model, rows, name, edges, weights):
    """The effect of a number at the edges of its bins; bins without data are not allowed."""
    effects = [[] for _ in edges[1:]]
    masses = [[] for _ in edges[1:]]
    for x, w in zip(rows, weights, strict=True):
        k = bin_of(edges, x[name])
        if k is not None and w:
            effects[k].append(model({**x, name: edges[k + 1]}) - model({**x, name: edges[k]}))
            masses[k].append(w)
    values = [0.0]
    for each, own in zip(effects, masses, strict=True):
        values.append(values[-1] + mean(each, own))
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    centre = mean(middles, [sum(own) for own in masses])
    return [value - centre for value in values]


def of_categories(model, rows, name, order, weights):
    """The effect of categories in a given order."""
    values = [0.0]
    for low, high in pairwise(order):
        pairs = [(x, w) for x, w in zip(rows, weights, strict=True) if x[name] in (low, high)]
        rises = [model({**x, name: high}) - model({**x, name: low}) for x, _ in pairs]
        values.append(values[-1] + mean(rises, [w for _, w in pairs]))
    masses = [
        sum(w for x, w in zip(rows, weights, strict=True) if x[name] == category)
        for category in order
    ]
    centre = mean(values, masses)
    return [value - centre for value in values]


def second_order(model, rows, names, edges):
    """The effect of a pair at the corners of cells; an empty one is as dense as the nearest."""
    (first, second), (a, b) = names, edges
    n, m = len(a) - 1, len(b) - 1
    cells = {(i, j): [] for i in range(n) for j in range(m)}
    for x in rows:
        i, j = bin_of(a, x[first]), bin_of(b, x[second])
        if i is not None and j is not None:
            cells[i, j].append(
                model({**x, first: a[i + 1], second: b[j + 1]})
                - model({**x, first: a[i], second: b[j + 1]})
                - model({**x, first: a[i + 1], second: b[j]})
                + model({**x, first: a[i], second: b[j]})
            )
    count = {cell: len(found) for cell, found in cells.items()}
    full = {cell: sum(found) / len(found) for cell, found in cells.items() if found}

    def effect(i, j):
        k, h = min(full, key=lambda c: ((c[0] - i) / n) ** 2 + ((c[1] - j) / m) ** 2)
        return full[k, h] / area(k, h) * area(i, j)

    def area(i, j):
        return (a[i + 1] - a[i]) * (b[j + 1] - b[j])

    value = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            value[i + 1][j + 1] = effect(i, j) + value[i][j + 1] + value[i + 1][j] - value[i][j]
    mains_a, mains_b = [0.0], [0.0]
    for i in range(n):
        rises = [
            (value[i + 1][j] - value[i][j] + value[i + 1][j + 1] - value[i][j + 1]) / 2
            for j in range(m)
        ]
        mains_a.append(mains_a[-1] + mean(rises, [count[i, j] for j in range(m)]))
    for j in range(m):
        rises = [
            (value[i][j + 1] - value[i][j] + value[i + 1][j + 1] - value[i + 1][j]) / 2
            for i in range(n)
        ]
        mains_b.append(mains_b[-1] + mean(rises, [count[i, j] for i in range(n)]))
    rest = [[value[i][j] - mains_a[i] - mains_b[j] for j in range(m + 1)] for i in range(n + 1)]
    corners = [
        (rest[i][j] + rest[i + 1][j] + rest[i][j + 1] + rest[i + 1][j + 1]) / 4
        for i in range(n)
        for j in range(m)
    ]
    centre = mean(corners, [count[i, j] for i in range(n) for j in range(m)])
    return [[each - centre for each in line] for line in rest]
