"""The share that load shedding takes, in simulated jobs: what batches cost is drawn, and not told to the rule."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.plan.nodes.shed import MOST_HALVINGS
from windrow.schedule.batch_costs import REMEMBERED, Seen, learnt, remembered
from windrow.schedule.shares import next_halvings

SECOND = 1_000_000


@dataclass
class Simulated:
    """A job whose batches read all that came during the one before; times in seconds, costs in seconds a row."""

    fixed: float
    taken: float
    read: float = 0.0
    above: float = 10.0
    noise: float = 0.0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    seen: list[Seen] = field(default_factory=list)
    halvings: int = 0
    shares: list[int] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    _before: int | None = None
    _waiting: float = 0.0

    def run(self, batches: int, rate: float) -> None:
        for _ in range(batches):
            rows = round(self._waiting)
            taken = round(rows * 0.5**self.halvings)
            length = self.fixed + self.read * rows + self.taken * taken
            length *= 1 + self.noise * self.random.uniform(-1, 1)
            self.lengths.append(length)
            self.shares.append(self.halvings)
            number, delay = len(self.shares), round(length * SECOND)
            following = next_halvings(self.halvings, delay, self._before, round(self.above * SECOND), self.seen)
            # as in a job: the figures of a batch are told when the next one has run
            self.seen = remembered([*self.seen, Seen(number, self.halvings, rows, taken, delay)])
            self.halvings, self._before = following, delay
            self._waiting = rate * length


@settings(max_examples=examples(25), deadline=None)
@given(
    fixed=st.floats(0.5, 20),
    part=st.floats(0, 0.06),
    limit=st.floats(0.1, 2.2),
    noise=st.floats(0, 0.04),
    seed=st.integers(0, 1000),
)
def test_where_rows_cost_next_to_nothing_the_share_does_not_stay_down(
    fixed: float, part: float, limit: float, noise: float, seed: int
):
    """Whatever the limit is beside the length of an empty batch, also where it is below it or up to twice of it."""
    rate = 500.0
    job = Simulated(fixed, part / rate, above=fixed * limit, noise=noise, random=np.random.default_rng(seed))
    job.run(200, rate)
    assert max(job.shares) <= 3
    assert np.mean(np.array(job.shares[40:]) == 0) > 0.9


@settings(max_examples=examples(25), deadline=None)
@given(
    fixed=st.floats(0.2, 1.0),
    load=st.floats(1.5, 40),
    read=st.floats(0, 0.3),
    noise=st.floats(0, 0.1),
    seed=st.integers(0, 1000),
)
def test_where_rows_cost_most_the_delay_comes_below_the_limit_and_goes_on_so(
    fixed: float, load: float, read: float, noise: float, seed: int
):
    """At `load` a second of rows takes so many seconds; when it is over, all rows are taken again."""
    rate = 1000.0
    random = np.random.default_rng(seed)
    job = Simulated(fixed, load / rate, read / rate, above=10.0, noise=noise, random=random)
    job.run(80, rate)
    assert np.mean(np.array(job.lengths[40:]) <= 10.0) > 0.5 and max(job.lengths[40:]) < 40.0
    assert load * 0.5 ** max(job.shares[40:]) > 0.02  # nor does it take much less than it could
    job.run(30, rate / (20 * load))
    assert job.shares[-1] == 0


@settings(max_examples=examples(15), deadline=None)
@given(read=st.floats(0.2, 0.9), fixed=st.floats(1, 8), noise=st.floats(0, 0.03), seed=st.integers(0, 1000))
def test_what_reading_costs_is_not_gained_by_taking_less(read: float, fixed: float, noise: float, seed: int):
    job = Simulated(fixed, 0.0, read / 1000, above=1.0, noise=noise, random=np.random.default_rng(seed))
    job.run(120, 1000.0)
    assert np.mean(np.array(job.shares[60:]) <= 1) > 0.8 and job.shares[60:].count(0) > 10


def test_a_share_that_had_fallen_to_the_least_before_anything_was_learnt_recovers():
    job = Simulated(2.0, 0.1 / 500, above=3.0)
    job.halvings = MOST_HALVINGS
    job.run(30, 500.0)
    assert job.shares[-1] == 0


def test_a_half_that_pays_is_kept_and_the_next_that_does_not_is_not_taken():
    """6 seconds are fixed, and at half the share another 2: all rows would take the limit and more."""
    job = Simulated(6.0, 0.5 / 1000, above=10.0)
    job.run(60, 1000.0)
    assert job.shares[-20:] == [1] * 20 and 7.9 < job.lengths[-1] < 8.1


@settings(max_examples=examples(15), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_the_rule_knows_nothing_but_what_was_noted(seed: int, batches: int):
    """After a restart it decides as it would have: what was seen goes through the note, as JSON."""
    job = Simulated(1.0, 1.5 / 1000, 0.1 / 1000, above=4.0, noise=0.1, random=np.random.default_rng(seed))
    job.run(batches, 1000.0)
    again = [Seen(*one) for one in json.loads(json.dumps([astuple(one) for one in job.seen]))]
    told = [next_halvings(job.halvings, 5 * SECOND, None, 4 * SECOND, known) for known in (job.seen, again)]
    assert told[0] == told[1] and abs(told[0] - job.halvings) <= 1 and 0 <= told[0] <= MOST_HALVINGS
    assert len(job.seen) <= REMEMBERED + MOST_HALVINGS + 1


@pytest.mark.parametrize("seen", [[], [Seen(1, 0, 0, 0, 0)], [Seen(1, 0, 0, 0, 5)], [Seen(1, 0, 0, 0, 5)] * 3])
def test_batches_that_teach_nothing_leave_the_delay_to_decide(seen: list[Seen]):
    assert next_halvings(0, 11, None, 10, seen) == 1
    assert min(learnt(seen).fixed_us, learnt(seen).taken_us) >= 0
