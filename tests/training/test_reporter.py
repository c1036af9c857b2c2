from dataclasses import replace

import pytest
import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.records import Episode, LearnReport, Rollout
from respawn.contracts.world import ContinuousActions, DiscreteActions, ObservationSpec, WorldSpec
from respawn.testing.suites.saveable import check_saveable
from respawn.training import reporter as module
from respawn.training.reporter import MOST_ACTIONS, RECENT_EPISODES, Reporter

KNOBS = Knobs(0, {"learning_rate": 0.5})


def spec(frames_per_step=1, tail_facts=()):
    return WorldSpec(
        "any", ObservationSpec((1,)), DiscreteActions(2), 2, frames_per_step=frames_per_step, tail_facts=tail_facts
    )


LEARNED = LearnReport({"loss/policy": 1.5})


def rollout(*episodes, num_valid=6, terminated=(), truncated=()):
    """Four steps of two lanes; what is terminated and truncated is named by its place in (step, lane) order."""
    valid = torch.zeros(4, 2, dtype=torch.bool)
    valid.view(-1)[:num_valid] = True
    nothing = torch.zeros(4, 2)
    ends = {"terminated": terminated, "truncated": truncated}
    flags = {name: torch.tensor([i in places for i in range(8)]).view(4, 2) for name, places in ends.items()}
    return Rollout(
        observations=torch.zeros(5, 2, 1),
        actions=nothing,
        behaviour_log_probs=nothing,
        rewards=nothing,
        **flags,
        cuts=torch.zeros((0, 2), dtype=torch.int64),
        cut_observations=torch.zeros(0, 1),
        valid=valid,
        scripted=torch.zeros_like(valid),
        memory={},
        weights_version=0,
        knobs_version=0,
        episodes=episodes,
        phase_seconds={"collect": 0.25},
    )


def test_an_update_advances_the_clock_and_says_all_there_is(monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    clock = Clock()
    reporter = Reporter(clock, spec(frames_per_step=4))
    now += 5.0
    reporter.begin()  # what came before is not training time
    now += 2.0
    ended = Episode(1, 10.0, 3, "terminated")
    report, episodes = reporter.advance(rollout(ended), LEARNED, KNOBS, {"learn": 0.5})
    assert (report.update, report.decisions, report.frames, report.episodes) == (1, 6, 24, 1)
    assert (clock.updates, clock.decisions, clock.frames, clock.episodes, clock.seconds) == (1, 6, 24, 1, 2.0)
    metrics = report.metrics
    assert metrics["loss/policy"] == 1.5 and metrics["knob/learning_rate"] == 0.5
    assert metrics["time/collect_seconds"] == 0.25 and metrics["time/learn_seconds"] == 0.5
    assert metrics["time/update_seconds"] == metrics["time/total_seconds"] == 2.0
    assert metrics["time/decisions_per_second"] == 3.0 and metrics["time/frames_per_second"] == 12.0
    assert metrics["return/mean"] == 10.0 and metrics["length/mean"] == 3.0
    assert [(e.update, e.episode) for e in episodes] == [(1, ended)]
    now += 1.0
    report, _ = reporter.advance(rollout(num_valid=8), LEARNED, KNOBS, {})
    assert (report.update, report.decisions) == (2, 14) and report.metrics["time/total_seconds"] == 3.0


def told(monkeypatch, *, collects_beside, **seconds):
    """What is said of an update of two seconds, a quarter of one spent on collecting."""
    now = iter([0.0, 2.0])
    monkeypatch.setattr(module, "monotonic", lambda: next(now))
    reporter = Reporter(Clock(), spec(), collects_beside=collects_beside)
    metrics = reporter.advance(rollout(), LEARNED, KNOBS, seconds)[0].metrics
    return {name: metrics[f"time/{name}_share"] for name in ("collect", "learn", "idle", "other")}


def test_the_loops_time_is_shared_out(monkeypatch):
    alone = told(monkeypatch, collects_beside=False, learn=1.0, wait=0.25)
    assert alone == {"collect": 0.125, "learn": 0.5, "idle": 0.0, "other": 0.375}
    beside = told(monkeypatch, collects_beside=True, learn=1.0, wait=0.25)
    assert beside == {"collect": 0.125, "learn": 0.5, "idle": 0.125, "other": 0.375}
    assert told(monkeypatch, collects_beside=True, learn=1.5, wait=0.75)["other"] == 0.0


def test_how_often_each_action_was_taken_by_whoever_was_there():
    taken = replace(rollout(num_valid=4), actions=torch.tensor([[0, 1], [1, 1], [0, 0], [0, 0]]))
    metrics = Reporter(Clock(), spec()).advance(taken, LEARNED, KNOBS, {})[0].metrics
    assert metrics["policy/action_share_0"] == 0.25 and metrics["policy/action_share_1"] == 0.75


@pytest.mark.parametrize("actions", [ContinuousActions(2), DiscreteActions(MOST_ACTIONS + 1)])
def test_of_very_many_actions_there_are_no_columns(actions):
    of_world = WorldSpec("any", ObservationSpec((1,)), actions, 2)
    metrics = Reporter(Clock(), of_world).advance(rollout(), LEARNED, KNOBS, {})[0].metrics
    assert not [name for name in metrics if name.startswith("policy/action_share")]


def test_counts_of_decisions_are_shares_and_others_as_they_are():
    of_world = replace(spec(), share_counts=("forward", "never"))
    counted = replace(rollout(num_valid=4), counts={"forward": 3.0, "new_ground": 12.0})
    metrics = Reporter(Clock(), of_world).advance(counted, LEARNED, KNOBS, {})[0].metrics
    assert metrics["world/forward_share"] == 0.75 and metrics["world/new_ground"] == 12.0
    assert not {"world/forward", "world/never_share"} & metrics.keys()


def test_how_far_the_farthest_came_is_told_where_the_world_has_a_forward():
    ended = [Episode(0, 1.0, 1, "terminated", {"x": x}) for x in (3.0, 9.0, 6.0)]
    for forward_fact, said in (("x", 9.0), ("", None)):
        of_world = replace(spec(), forward_fact=forward_fact)
        metrics = Reporter(Clock(), of_world).advance(rollout(*ended), LEARNED, KNOBS, {})[0].metrics
        assert metrics["episode/x"] == 6.0 and metrics.get("episode/x_max") == said


def test_before_the_first_episode_nothing_is_said_about_episodes():
    report, episodes = Reporter(Clock(), spec()).advance(rollout(), LEARNED, KNOBS, {})
    assert not [name for name in report.metrics if name.startswith(("return/", "length/", "episodes/"))]
    assert episodes == []


def test_returns_are_summed_up_over_recent_episodes():
    reporter = Reporter(Clock(), spec())
    old = [Episode(0, -1e6, 1, "terminated")] * 3
    reporter.advance(rollout(*old), LEARNED, KNOBS, {})
    recent = [Episode(0, float(i), i, "terminated") for i in range(RECENT_EPISODES)]
    report, _ = reporter.advance(rollout(*recent), LEARNED, KNOBS, {})
    metrics = report.metrics
    assert metrics["return/mean"] == pytest.approx(49.5) and metrics["return/max"] == 99.0
    assert metrics["return/p10"] == pytest.approx(9.9) and metrics["return/p90"] == pytest.approx(89.1)


def test_what_terminated_is_told_by_the_flags_and_not_by_the_words():
    reporter = Reporter(Clock(), spec())
    ended = [Episode(0, 1.0, 1, "worker lost"), Episode(1, 1.0, 1, "out of fuel"), Episode(0, 1.0, 1, "time limit")]
    report, _ = reporter.advance(rollout(*ended, terminated=[1], truncated=[0, 4]), LEARNED, KNOBS, {})
    assert report.metrics["episodes/terminated_fraction"] == pytest.approx(1 / 3)
    report, _ = reporter.advance(rollout(), LEARNED, KNOBS, {})  # of recent episodes, not of this rollout
    assert report.metrics["episodes/terminated_fraction"] == pytest.approx(1 / 3)
    both = rollout(Episode(0, 1.0, 1, "arrived"), terminated=[7], truncated=[7])
    assert reporter.advance(both, LEARNED, KNOBS, {})[0].metrics["episodes/terminated_fraction"] == 0.5


def test_what_terminated_is_kept_in_the_order_of_steps_and_lanes():
    reporter = Reporter(Clock(), spec())
    ended = [Episode(0, 1.0, 1, "terminated")] * 4
    reporter.advance(rollout(*ended, terminated=[0, 3], truncated=[1, 6]), LEARNED, KNOBS, {})
    assert reporter.state()["terminations"] == {"numbers": [1.0, 0.0, 1.0, 0.0]}


def test_the_recent_episodes_are_remembered():
    def advance(reporter):
        reporter.advance(
            rollout(Episode(0, 1.0, 2, "terminated"), Episode(1, 3.0, 4, "time limit"), terminated=[2], truncated=[7]),
            LEARNED,
            KNOBS,
            {},
        )

    check_saveable(lambda: Reporter(Clock(), spec()), advance, lambda reporter: str(reporter.state()))
