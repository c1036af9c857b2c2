"""When actions are forced, followed over reports that are made up."""

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Script
from respawn.contracts.records import EvaluationReport, UpdateReport
from respawn.contracts.world import ContinuousActions, DiscreteActions, ObservationSpec, WorldSpec
from respawn.errors import ConfigError
from respawn.schedules.progression import Progression
from respawn.schedules.progression_config import ProgressionConfig
from respawn.schedules.script_text import ScriptPart
from respawn.testing.suites.saveable import check_plain, freeze
from respawn.testing.suites.schedule import check_schedule

NAMES = ("NONE", "START", "RIGHT", "RIGHT+B")
PAD = WorldSpec(
    "pad", ObservationSpec((1,)), DiscreteActions(4), 2, frames_per_step=4, action_names=NAMES,
    forward_actions=("RIGHT+B", "RIGHT"), forward_fact="x",
)  # fmt: skip
CART = WorldSpec("cart", ObservationSpec((1,)), DiscreteActions(2), 2)


def progression(world=PAD, probed=None, **settings):
    return Progression(ProgressionConfig(**settings), world, probed=probed)


def report(update, value=None, *, scripted=0.0, metric="episode/x"):
    metrics = {"collect/scripted_fraction": scripted} | ({} if value is None else {metric: value})
    return UpdateReport(update, update * 10, update * 40, update, metrics)


def follow(schedule, values, *, first=1, **options):
    """The events of each update that had any."""
    said = {}
    for update, value in enumerate(values, start=first):
        events = [ruling.facts["event"] for ruling in schedule.observe(report(update, value, **options))]
        if events:
            said[update] = events
    return said


def scripts(schedule, update=0):
    return {script.reason: script for script in schedule.scripts(Clock(updates=update))}


def test_a_script_of_the_beginning_is_offered_from_the_start():
    schedule = progression(script="START:8,RIGHT+B:180")
    assert scripts(schedule) == {"sequence": Script(1, "sequence", ((1, 2), (3, 45)), 47)}
    assert scripts(schedule, 1000) == scripts(schedule)  # collectors know whether they have played it
    (ruling,) = schedule.observe(report(1))
    assert (ruling.update, ruling.schedule) == (1, "progression")
    assert ruling.facts["parts"] == [["START", 2], ["RIGHT+B", 45]]
    assert schedule.observe(report(2)) == ()


def test_a_sequence_in_tables_is_the_same():
    tables = progression(sequence=(ScriptPart("START", 8), ScriptPart("RIGHT+B", 180)))
    assert scripts(tables) == scripts(progression(script="START:8,RIGHT+B:180"))


def test_a_script_of_episodes_is_offered_for_so_many_updates():
    schedule = progression(script="RIGHT:4", sequence_when="episodes", sequence_updates=3)
    assert scripts(schedule, 2)["sequence"].each_episode
    assert scripts(schedule, 3) == {}


def test_forward_frames_take_the_forward_action():
    assert scripts(progression(forward_frames=30)) == {"forward": Script(2, "forward", ((3, 8),), 8)}


@pytest.mark.parametrize(
    ("settings", "probed", "action", "source"),
    [
        ({"forward_action": "RIGHT"}, None, 2, "setting"),
        ({"probe_decisions": 5}, "NONE", 0, "probe"),
        ({"probe_decisions": 5}, None, 3, "world"),
        ({}, None, 3, "world"),
    ],
)
def test_who_says_where_forward_is(settings, probed, action, source):
    schedule = progression(forward_frames=4, probed=probed, **settings)
    assert scripts(schedule)["forward"].parts == ((action, 1),)
    facts = schedule.observe(report(1))[0].facts
    assert facts == {"event": "forward_action", "action": NAMES[action], "source": source}


@pytest.mark.parametrize(
    ("world", "settings", "complaint"),
    [
        (CART, {"forward_frames": 4}, r"cart does not know which action leads forward; name it in .*\(0, 1\)"),
        (CART, {"forward_frames": 4, "probe_decisions": 3}, r"none led anywhere .*probe-decisions \(3\); try more"),
        (CART, {"forward_frames": 4, "forward_action": "RIGHT"}, "'RIGHT' is none of this world's actions"),
        (PAD, {"script": "RIGHT:3,JUMP"}, "'JUMP' is none of this world's actions; they are NONE, START"),
        (PAD, {"plateau_after": 3, "plateau_script": "JUMP"}, "'JUMP' is none"),
        (PAD, {"bootstrap_after": 3, "bootstrap_frames": 4, "bootstrap_action": "JUMP"}, "'JUMP' is none"),
        (WorldSpec("arm", ObservationSpec((1,)), ContinuousActions(2), 1), {"script": "0"}, "arm does not choose"),
    ],
)
def test_what_a_world_cannot_do_is_refused(world, settings, complaint):
    with pytest.raises(ConfigError, match=complaint):
        progression(world, **settings)


def test_worlds_without_a_forward_do_what_is_named():
    schedule = progression(CART, script="1:3", bootstrap_after=2, bootstrap_frames=5, bootstrap_action="0")
    follow(schedule, [1.0, 1.0, 1.0], metric="return/mean")
    assert scripts(schedule)["bootstrap"].parts == ((0, 5),)


def test_a_stall_brings_a_bootstrap_and_its_end_is_told():
    schedule = progression(bootstrap_after=3, bootstrap_frames=10)
    assert follow(schedule, [5.0, 6.0, 6.0, 5.5]) == {1: ["forward_action"]}
    assert scripts(schedule) == {}
    (ruling,) = schedule.observe(report(5, 6.0))  # the third without a new best
    assert scripts(schedule) == {"bootstrap": Script(3, "bootstrap", ((3, 3),), 3)}
    assert {"reason": "bootstrap", "metric": "episode/x", "value": 6.0, "best": 6.0, "since": 2}.items() <= dict(
        ruling.facts
    ).items()
    assert follow(schedule, [9.0, 9.0], first=6, scripted=0.5) == {}
    assert follow(schedule, [9.0], first=8) == {8: ["handed_back"]}
    assert follow(schedule, [9.0] * 50, first=9) == {}  # once


def test_a_run_in_which_no_episode_ends_is_a_stall():
    schedule = progression(bootstrap_after=3, bootstrap_frames=10)
    assert follow(schedule, [None] * 4) == {1: ["forward_action"], 3: ["script"]}


def test_progress_is_no_stall():
    schedule = progression(bootstrap_after=3, bootstrap_frames=10)
    assert follow(schedule, [float(value) for value in range(50)]) == {1: ["forward_action"]}


def test_bootstraps_come_again_as_often_as_they_may_and_after_their_rest():
    def fired(**settings):
        return [update for update, events in follow(progression(**settings), [1.0] * 30).items() if "script" in events]

    settings = {"bootstrap_after": 4, "bootstrap_frames": 8}
    assert fired(**settings) == [5]
    assert fired(**settings, bootstrap_times=3) == [5, 10, 15]  # the best after each is watched from anew
    assert fired(**settings, bootstrap_times=3, bootstrap_cooldown=9) == [5, 14, 23]


def test_a_second_bootstrap_has_a_number_of_its_own():
    schedule = progression(bootstrap_after=4, bootstrap_frames=8, bootstrap_times=2)
    follow(schedule, [1.0] * 5)
    first = scripts(schedule)["bootstrap"]
    follow(schedule, [1.0] * 5, first=6)
    assert scripts(schedule)["bootstrap"].number > first.number > 2


def test_a_plateau_is_measured_from_where_it_was_watched():
    settings = {"plateau_after": 4, "plateau_gain": 10.0, "plateau_script": "START:4,RIGHT:8"}
    creeping = [1.0 + 0.5 * update for update in range(10)]  # a new best each time, and no gain worth the name
    schedule = progression(**settings)
    assert follow(schedule, creeping) == {5: ["script"]}
    assert scripts(schedule) == {"plateau": Script(3, "plateau", ((1, 1), (2, 2)), 3)}
    climbing = [4.0 * update for update in range(50)]
    assert follow(progression(**settings), climbing) == {}
    assert follow(progression(**{**settings, "plateau_gain": 0.0}), creeping) == {}


def test_plateau_frames_are_how_long_it_takes():
    plain = progression(plateau_after=2, plateau_frames=40)
    follow(plain, [1.0] * 4)
    assert scripts(plain)["plateau"] == Script(3, "plateau", ((3, 10),), 10)
    scripted = progression(plateau_after=2, plateau_frames=40, plateau_script="RIGHT:4")
    follow(scripted, [1.0] * 4)
    assert scripts(scripted)["plateau"] == Script(3, "plateau", ((2, 1),), 10)


def test_a_plateau_goes_before_a_bootstrap_and_one_comes_at_a_time():
    schedule = progression(bootstrap_after=3, bootstrap_frames=4, plateau_after=3, plateau_frames=4)
    assert follow(schedule, [1.0] * 4) == {1: ["forward_action"], 4: ["script"]}
    assert set(scripts(schedule)) == {"plateau"}
    assert follow(schedule, [1.0] * 4, first=5) == {8: ["script"]}
    assert [script.reason for script in schedule.scripts(Clock())] == ["plateau", "bootstrap"]


def test_what_is_forced_is_no_progress_of_the_policys():
    schedule = progression(script="RIGHT:4", bootstrap_after=3, bootstrap_frames=4, warn_after=3)
    said = follow(schedule, [1.0] * 20, scripted=1.0)
    assert said == {1: ["forward_action", "script"]}
    assert "script" in follow(schedule, [1.0] * 5, first=21)[24]


def test_warnings_come_again_and_force_nothing():
    schedule = progression(warn_after=3)
    assert follow(schedule, [2.0] * 11) == {4: ["stagnation"], 7: ["stagnation"], 10: ["stagnation"]}
    assert scripts(schedule) == {}
    assert follow(schedule, [3.0, 3.0, 3.0], first=12) == {}


def test_the_metric_is_what_is_watched():
    schedule = progression(warn_after=2, metric="return/max")
    rising = {"episode/x": 0.0}
    said = []
    for update in range(1, 8):
        rising["episode/x"] += 1.0
        said += schedule.observe(UpdateReport(update, 0, 0, 0, {**rising, "return/max": 5.0}))
    assert [ruling.update for ruling in said] == [3, 5, 7]
    assert {ruling.facts["metric"] for ruling in said} == {"return/max"}


def test_evaluations_are_not_its_business():
    schedule = progression(warn_after=1)
    before = freeze(schedule.state())
    assert schedule.observe(EvaluationReport(1, 1, {"evaluation/x": 3.0})) == ()
    assert freeze(schedule.state()) == before


FULL = {
    "script": "START:8,RIGHT:4",
    "forward_frames": 8,
    "bootstrap_after": 3,
    "bootstrap_frames": 9,
    "bootstrap_times": 2,
    "bootstrap_cooldown": 6,
    "plateau_after": 7,
    "plateau_gain": 2.0,
    "plateau_frames": 12,
    "warn_after": 2,
}


def test_it_is_a_schedule_that_turns_no_knob():
    reports = [report(update, 5.0 + update % 3, scripted=float(update % 17 == 0)) for update in range(1, 51)]
    check_schedule(lambda: progression(**FULL), [], reports)


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_restored_anywhere_it_says_and_offers_the_same(cut):
    def heard(schedule, first, last):
        said = []
        for update in range(first, last):
            said.append(schedule.observe(report(update, 5.0 + update % 3, scripted=float(update % 13 < 2))))
            said.append(schedule.scripts(Clock(updates=update)))
        return said

    straight = heard(progression(**FULL), 1, 41)
    schedule = progression(**FULL)
    before = heard(schedule, 1, cut + 1)
    state = schedule.state()
    check_plain(state)
    heard(schedule, cut + 1, 41)  # what was given away stays as it is
    again = progression(**FULL)
    again.restore(state)
    assert before + heard(again, cut + 1, 41) == straight


def test_forward_stays_what_probing_found():
    schedule = progression(forward_frames=4, probe_decisions=2, probed="RIGHT")
    again = progression(forward_frames=4, probe_decisions=2)
    again.restore(schedule.state())
    assert scripts(again) == scripts(schedule)


def test_forced_episodes_that_are_still_in_the_mean_are_no_best_to_beat():
    """The mean of the last 20 episodes sinks for 20 updates after a script while the policy itself gets better."""
    watched = {"script": "RIGHT+B:40", "plateau_after": 6, "plateau_frames": 8, "bootstrap_after": 5,
               "bootstrap_frames": 8, "warn_after": 4}  # fmt: skip
    recent = [1500.0] * 5
    said = {}
    for settling in (0, 20):
        schedule = Progression(ProgressionConfig(**watched), PAD, settling_episodes=settling)
        follow(schedule, recent, scripted=1.0)
        episodes, said[settling] = list(recent), []
        for update in range(6, 60):
            episodes.append(100.0 + 5.0 * update)
            window = episodes[-20:]
            for ruling in schedule.observe(report(update, sum(window) / len(window))):
                said[settling].append(ruling.facts["event"])
    assert "script" in said[0] and "stagnation" in said[0]  # what settling is for
    assert said[20] == ["handed_back"]


def test_a_metric_that_no_episode_has_made_is_watched_without_settling():
    schedule = Progression(
        ProgressionConfig(script="RIGHT:4", bootstrap_after=3, bootstrap_frames=8), PAD, settling_episodes=1000
    )
    follow(schedule, [None], scripted=1.0)
    assert follow(schedule, [None] * 4, first=2) == {2: ["handed_back"], 4: ["script"]}


def test_a_script_of_episodes_is_over_when_no_more_are_offered():
    schedule = progression(script="RIGHT:4", sequence_when="episodes", sequence_updates=4)
    said = {}
    for update, scripted in enumerate([1.0, 0.0, 1.0, 0.0, 0.0], start=1):
        said |= follow(schedule, [1.0], first=update, scripted=scripted)
    assert said == {1: ["script"], 4: ["handed_back"]}


def test_with_slower_actors_a_script_is_over_when_all_must_have_played_it():
    schedule = Progression(ProgressionConfig(script="RIGHT:4"), PAD, most_lag=3)
    said = {}
    for update, scripted in enumerate([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], start=1):
        said |= follow(schedule, [1.0], first=update, scripted=scripted)
    assert said == {1: ["script"], 6: ["handed_back"]}


def test_episodes_from_hard_starts_do_not_settle_anything():
    config = ProgressionConfig(script="RIGHT:4", bootstrap_after=2, bootstrap_frames=8)
    fired = {}
    for hard_starts in (0.0, 0.5):
        schedule = Progression(config, PAD, settling_episodes=4)
        follow(schedule, [500.0], scripted=1.0)
        for update in range(2, 40):
            made = report(update, 500.0)
            metrics = {**made.metrics, "world/hard_starts": float(hard_starts and update % 2 == 0)}
            rulings = schedule.observe(UpdateReport(update, update * 10, update * 40, update, metrics))
            if any(ruling.facts["event"] == "script" for ruling in rulings):
                fired[hard_starts] = update
                break
    assert fired == {0.0: 7, 0.5: 11}


def test_worlds_without_single_choices_can_be_watched():
    arm = WorldSpec("arm", ObservationSpec((1,)), ContinuousActions(1), 2)
    schedule = progression(arm, warn_after=2)
    assert follow(schedule, [1.0, 1.0, 1.0], metric="return/mean") == {3: ["stagnation"]}
