"""Helps for a cold start in whole runs: what the learner is given, when, and what is said of it.

The policy does not learn, and episodes are all of one length, so `length/mean` stands still from the first update on.
"""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from heard_runs import LANES, STILL, gathered_with, small_run, ways

from respawn.collection.config import CollectionConfig
from respawn.errors import ConfigError
from respawn.schedules.config import CurveConfig
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.script_text import ScriptPart
from respawn.training.launch import begin
from respawn.worlds.fish.config import FishConfig
from respawn.worlds.fish.constants import ACTIONS as FISH_ACTIONS
from respawn.worlds.mario.config import MarioConfig, RewardConfig

HORIZON = 12
WAYS = ways(replace(LANES, num_lanes=4, horizon_steps=HORIZON))
every_way = pytest.mark.parametrize("way", WAYS)
MARIO = MarioConfig(actions="right", limit_steps=2, rewards=RewardConfig(distance=0.0, time=0.0, flag=0.0, death=0.0))
NONE, RIGHT, JUMP, RUN, LEAP = range(5)
FLAT = "length/mean"


def helped(way="sync", updates=3, *, world=MARIO, **settings):
    schedules = replace(STILL, progression=ProgressionConfig(**settings))
    return small_run(updates, WAYS[way], world=world, schedules=schedules)


def joined(heard, name):
    return torch.cat(heard.of_each(name))


def check_forced(heard, wanted):
    """What was forced, in every lane in order; it is marked, and said to have been certain, and nothing else is."""
    scripted, actions, certain = (joined(heard, name) for name in ("scripted", "actions", "behaviour_log_probs"))
    for lane in range(scripted.shape[1]):
        assert actions[scripted[:, lane], lane].tolist() == wanted
    assert torch.equal(certain == 0.0, scripted)


def forced_updates(heard):
    return [update for update, scripted in enumerate(heard.of_each("scripted"), start=1) if scripted.any()]


def test_the_actions_are_these():
    assert MARIO.action_names == ("NONE", "RIGHT", "RIGHT+A", "RIGHT+B", "RIGHT+A+B")


@every_way
@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"script": "RIGHT+B:8,NONE:5"}, [RUN] * 2 + [NONE] * 2),
        ({"sequence": (ScriptPart("RIGHT+B", 8), ScriptPart("NONE", 5))}, [RUN] * 2 + [NONE] * 2),
        ({"script": "RIGHT+A:60"}, [JUMP] * 15),  # longer than a rollout
        ({"forward_frames": 9}, [RUN] * 3),
        ({"forward_frames": 4}, [RUN]),
        ({"forward_frames": 9, "forward_action": "RIGHT+A"}, [JUMP] * 3),
        ({"script": "NONE:4", "forward_frames": 4, "forward_action": "RIGHT"}, [NONE, RIGHT]),
    ],
)
def test_what_is_forced_at_the_beginning(settings, wanted, way, train):
    heard = train(helped(way, **settings))
    check_forced(heard, wanted)
    assert joined(heard, "scripted").T.tolist() == [[row < len(wanted) for row in range(3 * HORIZON)]] * 4
    assert [row["collect/scripted_fraction"] for row in heard.rows] == [
        pytest.approx(scripted.float().mean()) for scripted in heard.of_each("scripted")
    ]
    reasons = [event.facts["reason"] for event in heard.events("script_begins")]
    assert reasons == ["sequence"] * ("script" in settings or "sequence" in settings) + ["forward"] * (
        "forward_frames" in settings
    )


@every_way
def test_watching_alone_changes_nothing(way, train):
    plain, watched = train(helped(way)), train(helped(way, warn_after=1))
    assert forced_updates(plain) == forced_updates(watched) == []
    assert torch.equal(joined(plain, "actions"), joined(watched, "actions"))


@every_way
@pytest.mark.parametrize("sequence_updates", [1, 2])
def test_a_script_of_episodes_holds_for_so_many_updates(sequence_updates, way, train):
    world = replace(MARIO, limit_steps=4)
    settings = {"script": "RIGHT+A:4,NONE:4", "sequence_when": "episodes", "sequence_updates": sequence_updates}
    heard = train(helped(way, 4, world=world, **settings))
    held = gathered_with([update <= sequence_updates for update in range(1, 5)], way)
    check_forced(heard, [JUMP, NONE] * (3 * sum(held)))
    each_episode = [True, True, False, False] * 3
    for scripted, is_held in zip(heard.of_each("scripted"), held, strict=True):
        assert scripted.T.tolist() == [each_episode if is_held else [False] * HORIZON] * 4


@every_way
@pytest.mark.parametrize(
    ("decisions", "forward", "level"),
    [
        (1, "RIGHT+B", "warning"),  # in so short a time nobody gets anywhere, and the world has a word for forward
        (6, "RIGHT+B", "info"),  # until then running is no faster, and among equals the world's own word counts
        (12, "RIGHT+B", "info"),
    ],
)
def test_probing_finds_the_way_forward_or_says_that_it_did_not(decisions, forward, level, way, train):
    world = replace(MARIO, buttons=("NONE", "LEFT", "RIGHT", "RIGHT+B"), limit_steps=20)
    heard = train(helped(way, world=world, forward_frames=8, probe_decisions=decisions))
    check_forced(heard, [world.buttons.index(forward)] * 2)
    (probed,) = heard.events("probed")
    assert (probed.level, probed.facts["action"]) == (level, forward if level == "info" else None)
    assert (probed.facts["gain RIGHT"] > 0.0) == (level == "info")
    named = train(helped(way, world=world, forward_frames=8, forward_action=forward))
    for name in ("observations", "actions"):
        assert torch.equal(joined(heard, name), joined(named, name))  # the world was put back


def first_seen(fired_after, way):
    """The update that first learns from what was decided after another."""
    return fired_after + (1 if way == "sync" else 2)


@every_way
@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"bootstrap_after": 2, "bootstrap_frames": 9}, [RUN] * 3),
        ({"bootstrap_after": 4, "bootstrap_frames": 9}, [RUN] * 3),
        ({"bootstrap_after": 2, "bootstrap_frames": 20, "bootstrap_action": "RIGHT+A"}, [JUMP] * 5),
        ({"bootstrap_after": 2, "bootstrap_frames": 4, "forward_action": "NONE"}, [NONE]),
        ({"plateau_after": 3, "plateau_frames": 8}, [RUN] * 2),
        ({"plateau_after": 2, "plateau_script": "RIGHT:4,NONE:8"}, [RIGHT, NONE, NONE]),
        ({"plateau_after": 2, "plateau_script": "RIGHT:4,NONE:8", "plateau_frames": 16}, [RIGHT, NONE, NONE, RIGHT]),
    ],
)
def test_a_stall_is_answered_once_and_when_it_was_said(settings, wanted, way, train):
    after = settings.get("bootstrap_after") or settings["plateau_after"]
    heard = train(helped(way, 16, metric=FLAT, **settings))
    assert forced_updates(heard) == [first_seen(1 + after, way)]  # the first update had the first value
    check_forced(heard, wanted)
    (begun,) = heard.events("script_begins")
    assert (begun.facts["update"], begun.facts["metric"], begun.facts["since"]) == (1 + after, FLAT, 1)
    (over,) = heard.events("script_over")
    assert over.facts["update"] > forced_updates(heard)[-1]


def begun_after(heard):
    return [event.facts["update"] for event in heard.events("script_begins")]


@every_way
def test_bootstraps_come_as_often_as_they_may_and_not_before_they_rested(way, train):
    settings = {"metric": FLAT, "bootstrap_after": 2, "bootstrap_frames": 4}
    once, thrice, rested = (
        begun_after(train(helped(way, 21, world=replace(MARIO, limit_steps=1), **settings, **more)))
        for more in ({}, {"bootstrap_times": 3}, {"bootstrap_times": 3, "bootstrap_cooldown": 9})
    )
    assert once == thrice[:1] == rested[:1] == [3]
    assert len(thrice) == len(rested) == 3
    assert all(2 < later - earlier < 9 for earlier, later in pairwise(thrice))
    assert all(later - earlier == 9 for earlier, later in pairwise(rested))


@every_way
def test_a_plateau_waits_for_the_bootstraps_and_no_more_is_forced_than_the_budget(way, train):
    bootstraps = {"bootstrap_after": 2, "bootstrap_frames": 9, "bootstrap_times": 2, "bootstrap_action": "RIGHT+A"}
    heard = train(helped(way, 30, metric=FLAT, **bootstraps, plateau_after=3, plateau_script="RIGHT:4"))
    reasons = [event.facts["reason"] for event in heard.events("script_begins")]
    assert reasons == ["bootstrap", "bootstrap", "plateau"]
    assert forced_updates(heard) == [first_seen(update, way) for update in begun_after(heard)]
    check_forced(heard, [JUMP] * 6 + [RIGHT])


def creeping(way, **settings):
    """Returns that rise a little with every update: the price of time falls, and every episode takes as long."""
    world = replace(MARIO, limit_steps=6, rewards=replace(MARIO.rewards, time=-1.0, scale=1.0))
    config = helped(way, 10, world=world, **settings)
    prices = CurveConfig("linear", final_fraction=0.0)
    return replace(config, schedules=replace(config.schedules, reward_time=prices))


@every_way
def test_a_plateau_is_what_gains_too_little(way, train):
    settings = {"metric": "return/mean", "plateau_after": 3, "plateau_script": "NONE:4"}
    small, great = (train(creeping(way, **settings, plateau_gain=gain)) for gain in (0.0, 5.0))
    returns = [row["return/mean"] for row in small.rows]
    assert returns == sorted(returns) and returns[-1] > returns[2]
    assert begun_after(small) == [] and begun_after(great) == [4]


@every_way
@pytest.mark.parametrize("warn_after", [2, 3])
def test_warnings_say_what_stands_still_and_force_nothing(warn_after, way, train):
    heard = train(creeping(way, warn_after=warn_after, metric=FLAT))
    warned = [event.facts["update"] for event in heard.events("stagnation")]
    assert warned == list(range(1 + warn_after, 11, warn_after))
    assert {(event.level, event.facts["metric"]) for event in heard.events("stagnation")} == {("warning", FLAT)}
    assert forced_updates(heard) == []


@every_way
def test_the_metric_is_what_is_watched(way, train):
    rising, flat = (train(creeping(way, warn_after=4, metric=metric)) for metric in ("return/mean", FLAT))
    assert (len(rising.events("stagnation")), len(flat.events("stagnation"))) == (0, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"script": "RIGHT:4,FLY:4"}, "'FLY' is none of this world's actions"),
        ({"sequence": (ScriptPart("FLY"),)}, "'FLY' is none"),
        ({"forward_frames": 4, "forward_action": "FLY"}, "'FLY' is none"),
        ({"bootstrap_after": 2, "bootstrap_frames": 4, "bootstrap_action": "FLY"}, "'FLY' is none"),
        ({"plateau_after": 2, "plateau_script": "FLY:4"}, "'FLY' is none"),
        ({"warn_after": 2, "metric": "episode/height"}, "progression.metric must be one of"),
    ],
)
def test_what_the_world_does_not_know_is_refused_and_leaves_no_folder(settings, message, train, tmp_path):
    with pytest.raises(ConfigError, match=message):
        begin(helped(**settings), preset="test", runs_dir=tmp_path / "runs", name="refused")
    assert not (tmp_path / "runs").exists()


def test_a_world_in_which_nothing_leads_forward_is_refused(train, tmp_path):
    world = replace(MARIO, buttons=("NONE", "LEFT"))
    with pytest.raises(ConfigError, match=r"none led anywhere .*probe-decisions \(5\)"):
        begin(helped(world=world, forward_frames=4, probe_decisions=5), preset="test", runs_dir=tmp_path, name="lost")
    assert not list(tmp_path.iterdir())


ACTORS = CollectionConfig(num_lanes=4, horizon_steps=8, actors=2)


def with_actors(updates, **settings):
    return replace(helped(updates=updates, world=FishConfig(fish=4, limit_steps=2), **settings), collection=ACTORS)


def test_actors_force_what_they_are_told_each_in_its_own_lanes(train):
    heard = train(with_actors(3, script="left:2,brake:1", forward_frames=2, probe_decisions=3))
    (probed,) = heard.events("probed")
    wanted = [FISH_ACTIONS.index(name) for name in ("left", "left", "brake", *[probed.facts["action"]] * 2)]
    for rollout in heard.rollouts[:2]:
        check_forced(replace(heard, rollouts=[rollout]), wanted)
    assert forced_updates(heard) == [1, 2]


def test_actors_are_told_of_a_stall(train):
    settings = {"bootstrap_after": 3, "bootstrap_frames": 3, "bootstrap_action": "right"}
    heard = train(with_actors(9, metric=FLAT, **settings))
    assert begun_after(heard) == [4]
    assert forced_updates(heard) == [7, 8]  # weights and knobs are two updates old when they are learned from
    for rollout in heard.rollouts[6:8]:
        check_forced(replace(heard, rollouts=[rollout]), [FISH_ACTIONS.index("right")] * 3)


@pytest.mark.parametrize(("script", "warns"), [("START:8,RIGHT+B:16", True), ("RIGHT+B:16", False)])
def test_a_script_that_pauses_the_game_is_warned_of(script, warns, train):
    heard = train(helped("sync", world=replace(MARIO, actions="extended", buttons=()), script=script))
    assert bool(heard.events("script_presses_start")) == warns
