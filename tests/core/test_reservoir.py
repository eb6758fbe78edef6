"""Algorithm 3: what is kept, for how long, and what is read off it."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipdp import NotEnoughSamples, Reservoir

PROPERTY = settings(deadline=None, derandomize=True)
SELECTS = ["oldest", "age", "uniform"]

numbers = st.lists(st.one_of(st.integers(-3, 3), st.floats(-1e6, 1e6)), min_size=1, max_size=60)
settings_of_a_reservoir = st.fixed_dictionaries(
    {
        "size": st.integers(1, 12),
        "probability": st.sampled_from([1.0, 0.5, 0.1]),
        "select": st.sampled_from(SELECTS),
        "seed": st.integers(0, 100),
    }
)


def filled(xs, **settings):
    reservoir = Reservoir(**settings)
    for x in xs:
        reservoir.update(x)
    return reservoir


@PROPERTY
@given(numbers, st.integers(1, 12))
def test_oldest_out_with_probability_one_is_a_sliding_window(xs, size):
    reservoir = Reservoir(size=size)
    for n, x in enumerate(xs, start=1):
        reservoir.update(x)
        assert reservoir.values == sorted(xs[max(0, n - size) : n])


@PROPERTY
@given(numbers, settings_of_a_reservoir, st.floats(0, 1))
def test_quantile_is_that_of_numpy(xs, settings, q):
    reservoir = filled(xs, **settings)
    # numpy counts from the nearer of the two neighbours: the same but for rounding.
    expected = np.quantile(np.array(reservoir.values, dtype=float), q)
    assert reservoir.quantile(q) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@PROPERTY
@given(numbers, settings_of_a_reservoir, st.floats(0, 1), st.floats(0, 1))
def test_an_interval_is_two_quantiles(xs, settings, lower, upper):
    reservoir = filled(xs, **settings)
    expected = (reservoir.quantile(lower), reservoir.quantile(upper))
    assert reservoir.interval(lower, upper) == expected


@PROPERTY
@given(numbers, settings_of_a_reservoir)
def test_the_outer_quantiles_are_the_extremes(xs, settings):
    reservoir = filled(xs, **settings)
    assert reservoir.quantile(0) == min(reservoir.values)
    assert reservoir.quantile(1) == max(reservoir.values)


@PROPERTY
@given(numbers, settings_of_a_reservoir)
def test_it_fills_up_first_and_then_keeps_its_size(xs, settings):
    reservoir = Reservoir(**settings)
    for n, x in enumerate(xs, start=1):
        reservoir.update(x)
        assert len(reservoir.values) == min(n, settings["size"])
        assert reservoir.values == sorted(reservoir.values)
        assert reservoir.n_values == n


@PROPERTY
@given(st.integers(1, 200), settings_of_a_reservoir)
def test_every_stored_value_was_offered_once(n, settings):
    # Algorithm 3 as printed lets one value enter twice.
    values = filled(range(n), **settings).values
    assert len(set(values)) == len(values)
    assert set(values) <= set(range(n))


@PROPERTY
@given(numbers, settings_of_a_reservoir)
def test_version_changes_exactly_when_a_value_enters(xs, settings):
    reservoir = Reservoir(**settings)
    for n in range(len(xs)):
        before, version = reservoir.values, reservoir.version
        reservoir.update(n)
        assert (reservoir.version != version) == (reservoir.values != before)


@pytest.mark.parametrize("select", SELECTS)
@pytest.mark.parametrize("probability", [0.02, 0.3])
def test_entrance_rate(select, probability):
    # Once the 50 places are taken, 20,000 trials with the entrance probability; 4.5 standard
    # deviations of a binomial count are allowed.
    n = 20_000
    reservoir = filled(range(50), size=50, probability=probability, select=select, seed=0)
    full = reservoir.version
    for x in range(n):
        reservoir.update(x)
    allowed = 4.5 * np.sqrt(n * probability * (1 - probability))
    assert abs(reservoir.version - full - n * probability) < allowed


def rate_of_leaving_from_below(select, size):
    """For each rank i = 0, ..., size - 1, youngest first: probability that a younger one leaves."""
    i = np.arange(size)
    return {"oldest": 0 * i, "age": i**2 / size**2, "uniform": i / size}[select]


@pytest.mark.parametrize("probability", [1.0, 0.25])
@pytest.mark.parametrize("select", SELECTS)
def test_expected_age_of_each_rank(select, probability):
    # Count ages in entrances and rank values from the youngest, 0. At an entrance the value of
    # rank R leaves and the new one gets rank 0. What then has rank i > 0 had it before if a
    # younger one left, R < i, and had rank i - 1 otherwise; it is one entrance older. With
    # c_i = P(R < i) the stationary mean ages obey a_0 = 0 and
    #     a_i = c_i a_i + (1 - c_i) a_(i-1) + 1,   so   a_i = a_(i-1) + 1 / (1 - c_i).
    # "oldest": c_i = 0, a_i = i. "uniform": c_i = i / L, and the mean over all ranks is L - 1.
    # "age", the older of two picked at random: both must be among the i youngest for R < i, hence
    # c_i = (i / L)^2, and the mean over all ranks is about L ln 2.
    # In observations an entrance takes 1 / p on average, and the last one was (1 - p) / p ago.
    # After 30 L entrances the start is forgotten up to exp(-30).
    size, n_runs = 10, 400
    n = round(30 * size / probability)
    ages = np.empty((n_runs, size))
    for run in range(n_runs):
        reservoir = filled(range(n), size=size, probability=probability, select=select, seed=run)
        ages[run] = [n - 1 - x for x in reversed(reservoir.values)]
    in_entrances = np.cumsum(1 / (1 - rate_of_leaving_from_below(select, size))) - 1
    expected = in_entrances / probability + (1 - probability) / probability
    standard_error = ages.std(axis=0, ddof=1) / np.sqrt(n_runs)
    # 10 ranks in each of 6 cases: 4.5 standard errors are exceeded once in 2,000 such tests.
    assert (np.abs(ages.mean(axis=0) - expected) <= 4.5 * standard_error).all()


def test_mean_age_of_each_select():
    # The sums of the derivation above in closed form.
    size = 10
    mean = {
        select: np.mean(np.cumsum(1 / (1 - rate_of_leaving_from_below(select, size))) - 1)
        for select in SELECTS
    }
    assert mean["oldest"] == pytest.approx((size - 1) / 2)
    assert mean["uniform"] == pytest.approx(size - 1)
    assert mean["age"] == pytest.approx(size * sum(1 / (size + i) for i in range(1, size)))


def test_the_window_is_how_far_the_stored_values_reach_back():
    # The oldest of L values is (L - 1) / p + (1 - p) / p = L / p - 1 observations old on average
    # (see above), with a variance of L (1 - p) / p^2 (a sum of L geometric gaps).
    size, probability, n_runs = 20, 0.1, 200
    spans = []
    for run in range(n_runs):
        reservoir = filled(range(2000), size=size, probability=probability, seed=run)
        spans.append(2000 - min(reservoir.values))
    allowed = 4.5 * np.sqrt(size * (1 - probability) / probability**2 / n_runs)
    assert abs(np.mean(spans) - reservoir.window) < allowed
    assert reservoir.window == 200


@pytest.mark.parametrize("select", SELECTS)
def test_a_seed_repeats_and_another_differs(select):
    settings = {"size": 20, "probability": 0.3, "select": select}
    xs = range(500)
    assert filled(xs, **settings, seed=1).state == filled(xs, **settings, seed=1).state
    assert filled(xs, **settings, seed=1).values != filled(xs, **settings, seed=2).values


def test_numpy_s_global_generator_is_not_touched():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002  # the global state is the subject
    filled(range(500), size=20, probability=0.3, select="age", seed=1)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@PROPERTY
@given(numbers, settings_of_a_reservoir, numbers)
def test_state_round_trip_goes_on_as_before(xs, settings, continuation):
    reservoir = filled(xs, **settings)
    restored = Reservoir(**settings)
    restored.state = json.loads(json.dumps(reservoir.state))
    for x in continuation:
        reservoir.update(x)
        restored.update(x)
        assert restored.state == reservoir.state
        assert restored.values == reservoir.values


@PROPERTY
@given(st.integers(0, 60), st.integers(0, 60), settings_of_a_reservoir)
def test_merge_is_made_of_the_two_parts(n_first, n_second, settings):
    first = filled(range(n_first), **settings)
    second = filled(range(100, 100 + n_second), **settings)
    states = first.state, second.state
    joined = first.merge(second)
    assert len(joined.values) == min(settings["size"], len(first.values) + len(second.values))
    assert joined.n_values == n_first + n_second
    # All of the later ones, and the newest of the earlier ones where there is room.
    assert [x for x in joined.values if x >= 100] == second.values
    earlier = [x for x in joined.values if x < 100]
    assert earlier == first.values[len(first.values) - len(earlier) :]
    joined.update(1000)
    assert (first.state, second.state) == states


@PROPERTY
@given(numbers, st.integers(0, 60), st.integers(1, 12))
def test_merge_of_two_windows_is_the_window_of_both(xs, cut, size):
    joined = filled(xs[:cut], size=size).merge(filled(xs[cut:], size=size))
    assert joined.values == filled(xs, size=size).values
    assert joined.state["by_age"] == filled(xs, size=size).state["by_age"]


def test_copy_is_independent():
    reservoir = filled(range(5), size=5)
    reservoir.copy().update(10)
    assert reservoir.values == [0, 1, 2, 3, 4]


def test_values_is_a_new_list():
    reservoir = filled(range(5), size=5)
    reservoir.values.clear()
    assert reservoir.quantile(0.5) == 2


def test_nothing_to_read_before_the_first_value():
    with pytest.raises(NotEnoughSamples, match="call update first"):
        Reservoir(size=3).quantile(0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "size must be .*at least 1, got 0"),
        ({"size": 3, "probability": 0}, "probability must be in"),
        ({"size": 3, "probability": 1.5}, "probability must be in"),
        ({"size": 3, "select": "youngest"}, "select must be one of oldest, age, uniform"),
    ],
)
def test_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        Reservoir(**settings)


def test_reservoirs_of_different_settings_do_not_merge():
    with pytest.raises(ValueError, match="only if their settings agree"):
        Reservoir(size=3).merge(Reservoir(size=4))
