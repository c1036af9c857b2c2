"""Both collectors: equal numbers, failures that arrive, rows in their places."""

import threading
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from gathering import GRU, make_collector, make_model, make_order

from respawn.collection.config import CollectionConfig
from respawn.collection.overlap import OverlapCollector
from respawn.contracts.collector import CollectOrder
from respawn.errors import ConfigError, WorldError
from respawn.models.config import ModelConfig
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.collector import digest, gather

both = pytest.mark.parametrize("kind", ["sync", "overlap"])


@pytest.mark.parametrize("config", [GRU, ModelConfig(hidden_sizes=(8,))])
def test_a_thread_changes_no_number(config):
    orders = [make_order(version, config=config) for version in range(5)]
    sync = gather(make_collector("sync", config=config), orders)
    overlap = gather(make_collector("overlap", config=config), orders)
    assert [digest(rollout) for rollout in sync] == [digest(rollout) for rollout in overlap]


@both
def test_each_step_says_how_much_of_the_rollout_is_gathered(kind):
    class Noted:
        def mark(self, phase, share=0.0):
            marks.append((phase, share))

    marks = []
    collector = make_collector(kind, horizon_steps=4, pulse=Noted())
    gather(collector, [make_order()])
    assert [share for phase, share in marks if phase == "act"] == [0.0, 0.25, 0.5, 0.75]
    assert [share for phase, share in marks if phase == "world"] == [0.0, 0.25, 0.5, 0.75]
    assert {share for phase, share in marks if phase not in ("act", "world")} == {0.0}


@both
def test_a_failure_crosses_at_finish(kind):
    collector = make_collector(kind, FakeWorld(3, fail_at_step=8))
    collector.start(make_order())
    collector.finish()
    collector.start(make_order(1))
    with pytest.raises(WorldError, match="fails at step 8"):
        collector.finish()
    collector.close()


def test_a_failure_that_nobody_asks_for_does_not_stop_closing():
    collector = make_collector("overlap", FakeWorld(3, fail_at_step=1))
    collector.start(make_order())
    collector.close()
    collector.close()


def test_a_thread_works_while_the_caller_does_something_else():
    class Gated(FakeWorld):
        def step(self, actions):
            assert gate.wait(timeout=60)
            names.add(threading.current_thread().name)
            return super().step(actions)

    gate, names = threading.Event(), set()
    collector = make_collector("overlap", Gated(3))
    collector.start(make_order())  # would never return if it did the work itself
    with pytest.raises(RuntimeError, match="under way"):
        collector.state()
    gate.set()
    collector.finish()
    collector.state()
    collector.close()
    assert len(names) == 1
    assert names.pop().startswith("collector")


def test_closing_waits_for_what_is_under_way():
    class Watched(FakeWorld):
        def step(self, actions):
            assert not closed
            return super().step(actions)

        def close(self):
            closed.append(True)

    closed = []
    collector = make_collector("overlap", Watched(3, step_seconds=0.01))
    collector.start(make_order())
    collector.close()
    assert closed == [True]
    assert collector._inner._order is None


def test_closing_waits_for_a_step_and_not_for_the_whole_rollout():
    """What a long rollout holds, on a GPU that is full, is given back before a smaller run takes its place."""
    first, go_on = threading.Event(), threading.Event()

    class Counting(FakeWorld):
        def step(self, actions):
            steps.append(1)
            first.set()
            go_on.wait(60)
            return super().step(actions)

        def close(self):
            closed.append(True)

    steps, closed = [], []
    collector = make_collector("overlap", Counting(3))
    collector.start(make_order())
    first.wait(60)
    threading.Timer(0.2, go_on.set).start()
    collector.close()
    assert closed == [True] and len(steps) == 1
    assert not collector._thread.is_alive()


def test_a_thread_that_is_left_behind_closes_the_world_when_it_comes_to_that():
    stuck, go_on, closed = threading.Event(), threading.Event(), threading.Event()

    class Stuck(FakeWorld):
        def step(self, actions):
            stuck.set()
            go_on.wait(60)
            return super().step(actions)

        def close(self):
            closed.set()

    collector = OverlapCollector(make_collector("sync", Stuck(3)), close_seconds=0.01)
    collector.start(make_order())
    assert stuck.wait(60)
    collector.close()
    assert collector._thread.is_alive() and not closed.is_set()  # nobody closes it beneath a step
    go_on.set()
    assert closed.wait(60)


@both
def test_rollouts_alternate_between_two_places(kind):
    collector = make_collector(kind)
    rollouts = []
    for version in range(4):
        collector.start(make_order(version))
        rollouts.append(collector.finish())
    places = [rollout.observations.data_ptr() for rollout in rollouts]
    assert places[0] == places[2] != places[1] == places[3]
    collector.close()


@both
def test_a_rollout_is_untouched_until_the_next_but_one_is_begun(kind):
    """While rollout 1 is learned from, 2 is gathered; only 3 may take its place."""
    collector = make_collector(kind)
    collector.start(make_order(0))
    first = collector.finish()
    before = digest(first)
    collector.start(make_order(1))
    collector.finish()
    assert digest(first) == before
    collector.start(make_order(2))
    collector.finish()
    assert digest(first) != before
    collector.close()


@both
def test_what_the_learner_does_meanwhile_is_not_seen(kind):
    """The weights in an order count as they were when it was given, in the actor's own copy."""
    learning = make_model(0)
    left_alone = make_collector(kind)
    disturbed = make_collector(kind, FakeWorld(3, with_absences=True, step_seconds=0.005))
    expected = gather(left_alone, [make_order(0, model=learning)])
    disturbed.start(make_order(0, model=learning))
    with torch.no_grad():
        for parameter in learning.parameters():
            parameter.add_(1.0)
    rollout = disturbed.finish()
    assert digest(rollout) == digest(expected[0])
    disturbed.close()


@both
def test_the_orders_weights_are_copied_not_borrowed(kind):
    order = make_order(0)
    collector = make_collector(kind)
    collector.start(order)
    collector.finish()
    inner = getattr(collector, "_inner", collector)
    for name, tensor in inner._actor._model.state_dict().items():
        assert torch.equal(tensor, order.weights.tensors[name])
        assert tensor.data_ptr() != order.weights.tensors[name].data_ptr()
    collector.close()


@both
def test_knobs_hold_from_the_next_rollout_on(kind):
    plain, scaled = (gather(make_collector(kind), [make_order(0), make_order(1, scale=scale)]) for scale in (1.0, 3.0))
    assert torch.equal(plain[0].rewards, scaled[0].rewards)
    torch.testing.assert_close(3.0 * plain[1].rewards, scaled[1].rewards)


class Remembering(FakeWorld):
    """Writes down what it showed and whether somebody was there to decide on it."""

    def __init__(self, num_lanes):
        super().__init__(num_lanes, with_absences=True)
        self.shown, self.there, self.results = [], [], []

    def step(self, actions):
        self.shown.append(self.observe().clone())
        self.there.append(self._present().clone())
        result = super().step(actions)
        self.results.append((actions.clone(), result, self.final_observations().clone()))
        return result


@both
def test_every_row_is_in_its_place(kind):
    """Row t: what was seen, whether it was somebody's to decide on, what was done, and what came of it."""
    world = Remembering(3)
    rollouts = gather(make_collector(kind, world), [make_order(version) for version in range(6)])
    joined = {
        name: torch.cat([getattr(rollout, name) for rollout in rollouts])
        for name in ("actions", "rewards", "terminated", "truncated", "valid")
    }
    assert torch.equal(joined["valid"], torch.stack(world.there))
    assert 0 < int((~joined["valid"]).sum()) < joined["valid"].numel()
    assert torch.equal(torch.cat([rollout.observations[:-1] for rollout in rollouts]), torch.stack(world.shown))
    assert torch.equal(joined["actions"], torch.stack([actions for actions, _, _ in world.results]))
    for name, field in (("rewards", "reward"), ("terminated", "terminated"), ("truncated", "truncated")):
        assert torch.equal(joined[name], torch.stack([getattr(result, field) for _, result, _ in world.results]))
    assert torch.equal(rollouts[-1].observations[-1], world.observe())
    finals = [final[result.truncated] for _, result, final in world.results]
    assert torch.equal(torch.cat([rollout.cut_observations for rollout in rollouts]), torch.cat(finals))
    assert sum(len(rollout.cuts) for rollout in rollouts) > 2
    assert [e for rollout in rollouts for e in rollout.episodes] == [e for _, r, _ in world.results for e in r.episodes]


def test_an_absence_crosses_from_one_rollout_to_the_next():
    """Rollouts of a single step: the mask of a row comes from the step before, in the rollout before."""
    world = Remembering(3)
    rollouts = gather(make_collector("sync", world, horizon_steps=1), [make_order(version) for version in range(30)])
    assert torch.equal(torch.cat([rollout.valid for rollout in rollouts]), torch.stack(world.there))
    assert not torch.stack(world.there).all()


def test_memory_is_what_the_lane_remembers_and_is_wiped_at_ends():
    rollouts = gather(make_collector("sync", horizon_steps=1), [make_order(0)] * 30)
    assert not rollouts[0].memory["hidden"].any()
    for earlier, later in pairwise(rollouts):
        ended = (earlier.terminated | earlier.truncated)[0]
        assert not later.memory["hidden"][ended].any()
        assert later.memory["hidden"][~ended].any(1).all()


def test_a_world_that_cannot_say_its_state_begins_anew():
    class Forgetful(FakeWorld):
        @property
        def spec(self):
            return replace(super().spec, exact_resume=False)

    collector = make_collector("sync", Forgetful(3, with_absences=True))
    gather(collector, [make_order(0)] * 3, close=False)
    collector.restore(collector.state())
    assert not collector._actor.memory["hidden"].any()
    (rollout,) = gather(collector, [make_order(3)])
    assert rollout.counts["open_length_max"] <= 6  # no episode is older than the rollout


def test_times_are_measured():
    (rollout,) = gather(make_collector("sync", FakeWorld(3, step_seconds=0.01)), [make_order()])
    seconds = rollout.phase_seconds
    assert seconds["world"] >= 0.06
    assert seconds["collect"] == pytest.approx(seconds["world"] + seconds["act"])


def test_an_order_is_frozen():
    with pytest.raises(AttributeError):
        make_order().weights = None
    assert isinstance(make_order(), CollectOrder)


@pytest.mark.parametrize("settings", [{"num_lanes": 0}, {"horizon_steps": 0}, {"lag": 2}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match=f"collection.{next(iter(settings)).replace('_', '-')}"):
        CollectionConfig(**settings)


def test_decisions_of_a_rollout():
    assert CollectionConfig(num_lanes=3, horizon_steps=7).decisions_per_rollout == 21
