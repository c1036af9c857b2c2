"""Several actors: which weights gather what, in which order, and what becomes of those that are lost."""

import threading
import time
from dataclasses import replace
from functools import partial

import pytest
import torch
from crews import make_pool, make_sync
from gathering import make_order

from respawn.collection.sync import SyncCollector
from respawn.contracts.knobs import Script, Start
from respawn.errors import ConfigError, WorkerError
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.collector import (
    check_collector,
    check_manners,
    check_ownership,
    check_resume,
    check_rollout,
    digest,
    gather,
)

ORDERS = [make_order(version) for version in range(7)]


def test_one_actor_is_a_collector(tmp_path):
    check_collector(partial(make_pool, tmp_path, 1), ORDERS[:5])


@pytest.mark.parametrize("settings", [{"actors": 2}, {"actors": 2, "most_lag": 5}, {"actors": 3}])
def test_several_are_one_too(settings, tmp_path):
    make = partial(make_pool, tmp_path, **settings)
    check_manners(make, ORDERS[0])
    check_ownership(make, ORDERS)
    check_resume(make, ORDERS)


@pytest.mark.parametrize(("actors", "most_lag"), [(1, None), (1, 3), (2, None), (2, 3), (3, 4)])
def test_in_fixed_order_a_rollout_follows_from_its_number(actors, most_lag, tmp_path):
    """Rollout k is gathered by actor k mod N, with weights of a set earlier order, and learned from as the k-th."""
    went = gather(make_pool(tmp_path, actors, most_lag=most_lag), ORDERS)
    ahead = (most_lag or actors) - 1
    alone = [make_sync(number) for number in range(actors)]
    for number, rollout in enumerate(went):
        collector = alone[number % actors]
        collector.start(ORDERS[max(number - ahead, 0)])
        assert digest(rollout) == digest(collector.finish())
        check_rollout(rollout)
        assert rollout.weights_version == max(number - ahead, 0)


def test_actors_have_worlds_and_dice_of_their_own(tmp_path):
    first, second = gather(make_pool(tmp_path, 2), ORDERS[:2])
    assert not torch.equal(first.observations, second.observations)
    assert not torch.equal(first.actions, second.actions)


class Gated(FakeWorld):
    """Does not step before its gate is open."""

    def __init__(self, gate):
        super().__init__(3, with_absences=True)
        self._gate = gate

    def step(self, actions):
        assert self._gate.wait(20)
        return super().step(actions)


def gated_first(gate):
    return lambda number: Gated(gate) if number == 0 else FakeWorld(3, with_absences=True)


def test_free_order_takes_what_is_ready_until_the_rest_would_be_too_old(tmp_path):
    gate = threading.Event()
    pool = make_pool(tmp_path, 2, order="free", most_lag=3, make_world=gated_first(gate))
    versions = []
    for order in ORDERS[:3]:
        pool.start(order)
        versions.append(pool.finish().weights_version)
    assert versions == [0, 1, 2]  # all from the second actor: the first stands
    pool.start(ORDERS[3])
    opening = threading.Timer(0.2, gate.set)
    opening.start()
    overdue = pool.finish()
    assert gate.is_set() and overdue.weights_version == 0  # ... and is waited for now
    assert overdue.flow["lag_max"] == 3.0
    pool.close()


def test_fixed_order_waits_for_its_turn(tmp_path):
    gate = threading.Event()
    pool = make_pool(tmp_path, 2, make_world=gated_first(gate))
    pool.start(ORDERS[0])
    threading.Timer(0.2, gate.set).start()
    pool.finish()
    assert gate.is_set()
    pool.close()


@pytest.mark.parametrize("order", ["fixed", "free"])
def test_no_weights_are_older_than_allowed(order, tmp_path):
    pool = make_pool(tmp_path, 2, order=order, most_lag=2)
    for order_ in ORDERS:
        pool.start(order_)
        rollout = pool.finish()
        assert order_.weights.version - rollout.weights_version <= 2
    pool.close()


def test_who_waits_is_measured(tmp_path):
    pool = make_pool(tmp_path, 2, make_world=lambda number: FakeWorld(3, step_seconds=0.005))
    rollouts = []
    for order in ORDERS:
        pool.start(order)
        rollouts.append(pool.finish())
    pool.close()
    last = rollouts[-1]
    assert {"back_pressure", "hand_over", "collect"} <= set(last.phase_seconds)
    assert last.flow["learner_waiting_share"] > 0.5 > last.flow["actors_waiting_share"]
    assert last.flow["lag_mean"] == pytest.approx(6 / 7)  # the first rollout was gathered with its own weights
    assert last.flow["rollouts_waiting"] + last.flow["rollouts_under_way"] == 1.0


def test_actions_are_forced_in_every_actor(tmp_path):
    script = Script(1, "forward", ((1, 2),), 2)
    order = replace(ORDERS[0], knobs=replace(ORDERS[0].knobs, scripts=(script,)))
    forced = gather(make_pool(tmp_path, 2, scripted=True), [order, order])
    free = gather(make_pool(tmp_path, 2, scripted=True), ORDERS[:2])
    for rollout in forced:
        assert rollout.scripted.any() and (rollout.actions[rollout.scripted] == 1).all()
        assert not rollout.behaviour_log_probs[rollout.scripted].any()
    assert not any(rollout.scripted.any() for rollout in free)


def test_no_two_actors_are_offered_the_same_start(tmp_path):
    class Offered(FakeWorld):
        def __init__(self, number):
            super().__init__(3)
            self._number = number

        def apply(self, knobs):
            seen.setdefault(self._number, []).extend(start.number for start in knobs.starts)
            super().apply(knobs)

    seen: dict[int, list[int]] = {}
    starts = tuple(Start(number, "main", {}) for number in range(7))
    order = replace(ORDERS[0], knobs=replace(ORDERS[0].knobs, starts=starts))
    gather(make_pool(tmp_path, 2, make_world=Offered), [order])
    assert seen == {0: [0, 2, 4, 6], 1: [1, 3, 5]}


class FailsOnce(FakeWorld):
    """One of all of them fails, once, in the middle of a rollout."""

    def __init__(self, failures, at_step=8):
        super().__init__(3, with_absences=True)
        self._failures, self._at_step, self._num_steps = failures, at_step, 0

    def step(self, actions):
        self._num_steps += 1
        if self._num_steps == self._at_step and self._failures:
            raise OSError(self._failures.pop())
        return super().step(actions)


@pytest.mark.parametrize("actors", [1, 2])
def test_whoever_is_lost_is_replaced_and_no_number_changes(actors, tmp_path):
    events, failures = [], ["the world fell over"]
    failing = make_pool(tmp_path, actors, make_world=lambda number: FailsOnce(failures), notify=events.append)
    went = gather(failing, ORDERS)
    assert [digest(rollout) for rollout in went] == [
        digest(rollout) for rollout in gather(make_pool(tmp_path, actors), ORDERS)
    ]
    (event,) = [event for event in events if event.kind == "actor_replaced"]
    assert event.level == "warning" and "OSError: the world fell over" in event.message
    assert went[-1].flow["actors_replaced"] == 1.0
    marks = (tmp_path / f"actor-{event.facts['actor']}.jsonl").read_text()
    assert '"lost"' in marks and "Traceback" in marks


@pytest.mark.parametrize("allowed", [0, 2])
def test_one_that_is_lost_again_and_again_ends_the_run(allowed, tmp_path):
    events = []
    failures = ["no use"] * 9
    pool = make_pool(
        tmp_path,
        1,
        make_world=lambda number: FailsOnce(failures, at_step=1),
        max_replacements=allowed,
        notify=events.append,
    )
    pool.start(ORDERS[0])
    with pytest.raises(WorkerError, match=f"{allowed + 1} times in a row.*max-replacements allows {allowed}"):
        pool.finish()
    assert len(events) == allowed
    pool.close()


def test_who_finished_while_another_was_replaced_is_not_taken_for_hung(tmp_path):
    """The first is lost; its replacement takes longer to come than a rollout may take."""

    class Slow(FakeWorld):
        def __init__(self, number):
            super().__init__(3, with_absences=True)
            self._number = number

        def step(self, actions):
            if self._number == 0 and failures:
                assert other_is_done.wait(5.0)
                raise OSError(failures.pop())
            return super().step(actions)

    def make_world(number):
        if number == 0 and not failures:
            time.sleep(0.6)
        return Slow(number)

    def note(event):
        events.append(event.facts["actor"])

    failures, events, other_is_done = ["lost"], [], threading.Event()
    pool = make_pool(tmp_path, 2, make_world=make_world, notify=note, rollout_seconds=0.4)
    pool.start(ORDERS[0])
    threading.Timer(0.2, other_is_done.set).start()
    pool.finish()
    pool.start(ORDERS[0])
    pool.finish()
    pool.close()
    assert events == [0]


def test_an_actor_that_hangs_is_replaced(tmp_path):
    class Hanging(FakeWorld):
        def step(self, actions):
            if hangs:
                hangs.pop()
                assert not release.wait(1.0)
            return super().step(actions)

    hangs, release, events = [True], threading.Event(), []
    make = partial(make_pool, tmp_path, 1, make_world=lambda number: Hanging(3), notify=events.append)
    went = gather(make(rollout_seconds=0.3), ORDERS[:2])
    (event,) = events
    assert "hung for more than 0.3 s" in event.message
    assert [digest(rollout) for rollout in went] == [digest(rollout) for rollout in gather(make(), ORDERS[:2])]


def test_one_that_does_not_start_in_time_is_given_up(tmp_path):
    gate = threading.Event()

    def slow(number):
        gate.wait(0.3)
        return FakeWorld(3)

    with pytest.raises(WorkerError, match=r"hung for more than 0\.05 s"):
        make_pool(tmp_path, 1, make_world=slow, actor_start_seconds=0.05, max_replacements=0)


def test_what_trying_again_does_not_mend_crosses_as_it_is(tmp_path):
    def refuse(number):
        raise ConfigError("there is no such world")

    with pytest.raises(ConfigError, match="there is no such world"):
        make_pool(tmp_path, 2, make_world=refuse)


@pytest.mark.parametrize("failures", [[], ["the world fell over"]])
def test_one_that_begins_anew_counts_on_and_keeps_weights_young(failures, tmp_path, monkeypatch):
    """In free order how old a rollout may become follows from how many were learned from."""
    before = make_pool(tmp_path, 2, order="free", most_lag=2)
    gather(before, ORDERS[:3], close=False)
    state = before.state()
    before.close()
    gate, begin_anew = threading.Event(), SyncCollector.begin_anew

    def lost_once(collector, state):
        if failures:
            raise OSError(failures.pop())
        begin_anew(collector, state)

    monkeypatch.setattr(SyncCollector, "begin_anew", lost_once)
    pool = make_pool(tmp_path, 2, order="free", most_lag=2, make_world=gated_first(gate))
    pool.begin_anew(state)
    assert not failures
    for order in ORDERS[3:5]:
        pool.start(order)
        assert pool.finish().weights_version == order.weights.version  # the second actor's
    pool.start(ORDERS[5])
    threading.Timer(0.2, gate.set).start()
    overdue = pool.finish()
    assert gate.is_set() and overdue.weights_version == 3 and overdue.flow["lag_max"] == 2.0
    pool.close()


def lags_of_updates(pool, first, num_updates):
    """As the loop asks, one rollout ahead of learning; the last was handed out and is not learned from."""
    lags = []
    pool.start(ORDERS[first])
    for version in range(first, first + num_updates):
        rollout = pool.finish()
        lags.append(version - rollout.weights_version)
        assert rollout.flow["lag_max"] == max(lags)
        pool.start(ORDERS[version])
    pool.finish()
    return lags


@pytest.mark.parametrize(
    ("actors", "order", "most_lag"), [(1, "fixed", None), (1, "fixed", 3), (2, "fixed", None), (2, "free", 2)]
)
def test_what_was_handed_out_and_not_learned_from_is_not_counted_by_actors_that_begin_anew(
    actors, order, most_lag, tmp_path
):
    make = partial(make_pool, tmp_path, actors, order=order, most_lag=most_lag)
    before = make()
    from_the_start = lags_of_updates(before, 0, 2)
    state = before.state()
    before.close()
    pool, again = make(), make()
    pool.begin_anew(state)
    again.restore(pool.state())
    for begun in (pool, again):
        lags = lags_of_updates(begun, 2, 4)
        assert lags[:2] == from_the_start and max(lags) <= (most_lag or actors)
        begun.close()


def test_nobody_is_listened_to_for_ever(tmp_path):
    pool = make_pool(tmp_path, 2)
    with pytest.raises(RuntimeError, match="no order under way"):
        pool._crew.listen()
    pool.close()


def test_scripts_that_were_played_are_not_played_again_by_actors_that_begin_anew(tmp_path):
    script = Script(1, "forward", ((1, 2),), 2)
    orders = [replace(order, knobs=replace(order.knobs, scripts=(script,))) for order in ORDERS]
    before = make_pool(tmp_path, 2, scripted=True)
    played = gather(before, orders[:2], close=False)
    assert all(rollout.scripted.any() for rollout in played)
    state = before.state()
    before.close()
    pool = make_pool(tmp_path, 2, scripted=True)
    pool.begin_anew(state)
    assert not any(rollout.scripted.any() for rollout in gather(pool, orders[2:5]))


def test_an_actor_that_is_heard_of_is_a_move(tmp_path):
    moves = []

    class Heard:
        def mark(self, phase, share=0.0):
            """Not of interest."""

        def moved(self):
            moves.append(len(rollouts))

    rollouts = []
    pool = make_pool(tmp_path, 1, most_lag=3, pulse=Heard())
    pool.start(ORDERS[0])
    rollouts.append(pool.finish())
    pool.state()  # waits for the other two
    assert moves.count(1) >= 2
    pool.close()
