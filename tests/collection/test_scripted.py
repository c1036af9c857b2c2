"""Forced actions: done, marked, said to have been certain; in both collectors, and across a kill."""

import pytest
import torch
from gathering import make_collector, make_order

from respawn.contracts.knobs import Script
from respawn.memory.rollouts import ROW_FIELDS
from respawn.testing.fakes import FakeWorld
from respawn.testing.suites.collector import check_collector, digest, gather

both = pytest.mark.parametrize("kind", ["sync", "overlap"])
FIRST = Script(1, "sequence", ((2, 2), (0, 3)), 5)


def played(scripts_of_orders, kind="sync", *, world=None, with_absences=False, horizon_steps=6):
    """The rollouts of one order after the other, each with its own scripts."""
    world = world or FakeWorld(3, with_absences=with_absences)
    collector = make_collector(kind, world, horizon_steps=horizon_steps, with_scripts=True)
    orders = [make_order(version, scripts=scripts) for version, scripts in enumerate(scripts_of_orders)]
    return gather(collector, orders)


def joined(rollouts, name):
    return torch.cat([getattr(rollout, name) for rollout in rollouts])


def forced_of(rollouts, lane):
    """What was forced in a lane, in order."""
    return joined(rollouts, "actions")[joined(rollouts, "scripted")[:, lane], lane].tolist()


@both
def test_a_script_is_played_marked_and_certain(kind):
    (rollout,) = played([(FIRST,)], kind)
    assert rollout.actions[:5].T.tolist() == [[2, 2, 0, 0, 0]] * 3
    assert rollout.scripted.T.tolist() == [[True] * 5 + [False]] * 3
    assert not rollout.behaviour_log_probs[:5].any()
    assert (rollout.behaviour_log_probs[5] < 0).all()


@both
def test_a_script_crosses_rollouts_and_is_not_begun_twice(kind):
    rollouts = played([(FIRST,)] * 4, kind, horizon_steps=2)
    assert joined(rollouts, "scripted").T.tolist() == [[True] * 5 + [False] * 3] * 3
    assert all(forced_of(rollouts, lane) == [2, 2, 0, 0, 0] for lane in range(3))


class Unmoved(FakeWorld):
    """What is done there changes nothing that is seen: whatever differs is the collector's doing."""

    def step(self, actions):
        return super().step(torch.ones_like(actions))


def check_differs_only_in(names, one, other, where):
    """Compare two rollouts, except in `names` where something was forced."""
    for name in ROW_FIELDS:
        mine, theirs = getattr(one, name), getattr(other, name)
        if name in names:
            assert not torch.equal(mine[where], theirs[where]), name
            mine, theirs = mine[~where], theirs[~where]
        assert torch.equal(mine, theirs), name
    assert torch.equal(one.memory["hidden"], other.memory["hidden"])


def test_what_comes_after_the_script_is_the_policys_own():
    """Memory and dice go on beneath it: only what is done and its probability are another's."""
    plain, forced = (played([scripts] * 3, world=Unmoved(3)) for scripts in ((), (FIRST,)))
    where = forced[0].scripted
    assert where.any() and not where.all() and not joined(plain, "scripted").any()
    check_differs_only_in(("actions", "behaviour_log_probs", "scripted"), plain[0], forced[0], where)
    assert plain[1].memory["hidden"].any() and len(plain[1].actions.unique()) > 1
    for one, other in zip(plain[1:], forced[1:], strict=True):
        check_differs_only_in((), one, other, where)


@both
def test_a_script_waits_for_who_is_not_there(kind):
    rollouts = played([(Script(1, "forward", ((2, 9),), 9),)] * 5, kind, with_absences=True)
    scripted, valid = joined(rollouts, "scripted"), joined(rollouts, "valid")
    assert not (scripted & ~valid).any()
    assert scripted.sum(0).tolist() == [9, 9, 9]
    assert not valid[:12].all()  # somebody was away meanwhile


def test_a_budget_longer_than_its_parts_begins_again():
    rollouts = played([(Script(1, "plateau", ((2, 1), (1, 2)), 7),)] * 2)
    assert forced_of(rollouts, 0) == [2, 1, 1, 2, 1, 1, 2]


@both
def test_reasons_go_before_each_other_and_the_others_wait(kind):
    scripts = (
        Script(2, "forward", ((1, 2),), 2),
        Script(1, "sequence", ((0, 2),), 2),
        Script(3, "bootstrap", ((2, 1),), 1),
        Script(4, "plateau", ((0, 1),), 1),
    )
    rollouts = played([scripts] * 2, kind)
    assert [forced_of(rollouts, lane) for lane in range(3)] == [[0, 2, 0, 0, 1, 1]] * 3


def test_a_later_script_of_the_same_reason_takes_the_place_of_the_earlier():
    first, second = Script(3, "bootstrap", ((2, 20),), 20), Script(4, "bootstrap", ((0, 3),), 3)
    rollouts = played([(first,), (second,), (second,)])
    assert forced_of(rollouts, 1) == [2] * 6 + [0] * 3


@both
def test_a_script_of_episodes_begins_with_each(kind):
    script = Script(1, "sequence", ((2, 1), (1, 1)), 2, each_episode=True)
    rollouts = played([(script,)] * 6 + [()] * 6, kind)
    scripted, actions = joined(rollouts, "scripted"), joined(rollouts, "actions")
    ended = joined(rollouts, "terminated") | joined(rollouts, "truncated")
    for lane in range(3):
        firsts = [0, *(t + 1 for t in ended[:, lane].nonzero().flatten().tolist())]
        offered = [t for t in firsts if t < 36]
        assert len(offered) > 3
        wanted = {t + number: action for t in offered for number, action in enumerate((2, 1))}
        assert scripted[:, lane].nonzero().flatten().tolist() == sorted(wanted)
        assert all(actions[t, lane] == action for t, action in wanted.items())


@pytest.mark.parametrize("with_absences", [False, True])
def test_a_thread_changes_no_number(with_absences):
    scripts = (FIRST, Script(3, "bootstrap", ((1, 4),), 4))
    sync, overlap = (played([scripts] * 3, kind, with_absences=with_absences) for kind in ("sync", "overlap"))
    assert [digest(rollout) for rollout in sync] == [digest(rollout) for rollout in overlap]


@both
@pytest.mark.parametrize("each_episode", [False, True])
def test_a_collector_goes_on_in_the_middle_of_a_script(kind, each_episode):
    script = Script(1, "sequence", ((2, 3), (0, 4)), 30, each_episode=each_episode)
    orders = [make_order(version, scripts=(script,)) for version in range(5)]
    check_collector(lambda: make_collector(kind, with_scripts=True), orders)


def test_what_is_left_is_not_what_the_next_order_brings_back():
    """A script that was played out before a kill is not played again after it."""
    collector = make_collector("sync", FakeWorld(3), with_scripts=True)
    gather(collector, [make_order(0, scripts=(FIRST,))], close=False)
    again = make_collector("sync", FakeWorld(3), with_scripts=True)
    again.restore(collector.state())
    (rollout,) = gather(again, [make_order(1, scripts=(FIRST,))])
    assert not rollout.scripted.any()


@both
def test_an_order_to_force_is_not_passed_over(kind):
    collector = make_collector(kind, FakeWorld(3))
    collector.start(make_order(0, scripts=(FIRST,)))
    with pytest.raises(RuntimeError, match="made without scripts"):
        collector.finish()
    collector.close()


def test_rows_differ_only_where_something_was_forced():
    scripts = [(Script(1, "forward", ((action, 3),), 3),) for action in (0, 2)]
    (first,), (second,) = (played([each], world=Unmoved(3)) for each in scripts)
    assert first.scripted.T.tolist() == [[True] * 3 + [False] * 3] * 3
    check_differs_only_in(("actions",), first, second, first.scripted)


@both
def test_lanes_that_are_no_more_leave_behind_which_scripts_were_played(kind):
    every = Script(2, "forward", ((1, 2),), 2, each_episode=True)
    scripts = (FIRST, every)
    before = make_collector(kind, FakeWorld(3), horizon_steps=6, with_scripts=True)
    gather(before, [make_order(0, scripts=scripts)], close=False)
    after = make_collector(kind, FakeWorld(3), horizon_steps=4, with_scripts=True)
    after.begin_anew(before.state())
    before.close()
    (rollout,) = gather(after, [make_order(1, scripts=scripts)])
    assert forced_of([rollout], 0) == [1, 1]  # in each episode, and so in those that begin anew; but not FIRST again
