import json
from dataclasses import replace

import pytest

from respawn.contracts.clock import Clock
from respawn.contracts.records import EvaluationReport, Probe, UpdateReport
from respawn.errors import ConfigError
from respawn.schedules.hard_start_config import (
    HardStartsConfig,
    HardStartStage,
    HarvestConfig,
    MinReinjections,
    StartWarningConfig,
)
from respawn.schedules.hard_starts import HardStarts
from respawn.testing.suites.saveable import check_saveable


@pytest.fixture(scope="module", name="files")
def two_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("starts")
    (folder / "easy.json").write_text(json.dumps({"velocities": [[1, 0], [2, 0], [3, 0]]}))
    (folder / "hard.json").write_text(json.dumps({"velocities": [[0, 1], [0, 2]]}))
    return str(folder / "easy.json"), str(folder / "hard.json")


def built(files, *, schools=2, planned=20, stages=None, **settings):
    easy, hard = files
    default = (HardStartStage(2, easy, "main"), HardStartStage(1, hard, "ne", velocity_scale=0.5, share=0.25))
    config = HardStartsConfig(stages or default, **{"unit": "episodes", **settings})
    return HardStarts(config, num_schools=schools, planned_updates=planned)


def report(update, taken=0):
    return UpdateReport(update, update, update, update, {"world/hard_starts": float(taken)})


def worst(update, *states, **features):
    listed = [{"state": state, "features": features, "episode": i, "seed": 7} for i, state in enumerate(states)]
    return EvaluationReport(update, 0, {}, Probe(update, 0, {"worst_starts": listed}))


def velocities(starts):
    return [tuple(start.state["predator_velocity"]) for start in starts]


def status(rulings):
    return next(ruling.facts for ruling in rulings if ruling.schedule == "hard_starts")


def test_stages_are_dealt_in_order_and_their_files_go_round(files):
    starts = built(files).starts(Clock())
    assert [start.number for start in starts] == [0, 1, 2, 3]
    assert velocities(starts) == [(1, 0), (2, 0), (3, 0), (1, 0)]
    assert {start.kind for start in starts} == {"main"}


def test_what_is_taken_moves_the_queue_on_to_its_end(files):
    hard = built(files)
    facts = status(hard.observe_update(report(1, 3)))
    assert (facts["consumed"], facts["taken"], facts["stage_type"], facts["progress"]) == (3, 3, "main", 0.75)
    starts = hard.starts(Clock(updates=1))
    assert [(start.number, start.kind) for start in starts] == [(3, "main"), (4, "ne"), (5, "ne")]
    assert velocities(starts) == [(1, 0), (0.0, 0.5), (0.0, 1.0)]
    assert hard.share(Clock(updates=1)) == 1.0
    hard.observe_update(report(2, 1))
    assert (hard.kind(2), hard.share(Clock(updates=2))) == ("ne", 0.25)
    facts = status(hard.observe_update(report(3, 2)))
    assert (facts["exhausted"], facts["remaining"], facts["progress"]) == (True, 0, 1.0)
    assert hard.starts(Clock(updates=3)) == () and hard.share(Clock(updates=3)) == 0.0


def test_a_cycled_queue_never_ends(files):
    hard = built(files, cycled=True)
    facts = status(hard.observe_update(report(1, 7)))
    assert (facts["exhausted"], facts["predicted_exhaustion"], facts["remaining"]) == (False, None, 5)
    assert facts["reinjections_by_type"] == {"main": 1, "ne": 0}
    assert [(start.number, *velocities([start])) for start in hard.starts(Clock())][:2] == [(7, (2, 0)), (8, (3, 0))]


def test_in_updates_a_stage_lasts_as_long_as_it_says_and_its_starts_go_round(files):
    hard = built(files, unit="updates")
    assert [hard.kind(updates) for updates in range(4)] == ["main", "main", "ne", "ne"]
    facts = status(hard.observe_update(report(1, 3)))
    assert (facts["consumed"], facts["total_capacity"], facts["taken_total"]) == (1, 3, 3)
    assert facts["predicted_exhaustion"] == 3
    assert [(start.number, start.kind) for start in hard.starts(Clock(updates=1))] == [(n, "main") for n in range(3, 7)]
    assert velocities(hard.starts(Clock(updates=2))) == [(0.0, 1.0), (0.0, 0.5), (0.0, 1.0), (0.0, 0.5)]
    assert (hard.share(Clock(updates=2)), hard.share(Clock(updates=3))) == (0.25, 0.0)
    assert hard.starts(Clock(updates=3)) == ()


def test_the_end_is_foreseen_by_what_was_taken_lately(files):
    hard = built(files, stages=(HardStartStage(50, files[0]),), forecast_updates=2)
    assert status(hard.observe_update(report(1, 0)))["predicted_exhaustion"] is None
    assert status(hard.observe_update(report(2, 4)))["predicted_exhaustion"] == 2 + 48
    assert status(hard.observe_update(report(3, 4)))["predicted_exhaustion"] == 3 + 23


def test_a_dynamic_warning_tells_that_the_queue_will_not_last(files):
    lasting = built(files, stages=(HardStartStage(50, files[0]),), warning=StartWarningConfig(patience=1, dynamic=True))
    assert [ruling.schedule for ruling in lasting.observe_update(report(1, 4))] == ["hard_starts"]
    short = built(files, warning=StartWarningConfig(patience=1, dynamic=True))
    rulings = short.observe_update(report(1, 2))
    assert [ruling.schedule for ruling in rulings] == ["hard_starts", "hard_start_warning"]
    assert rulings[1].facts["event"] == "triggered" and status(rulings)["warning_active"] is True


def test_kinds_come_back_as_often_as_promised(files):
    easy, hard_file = files
    stages = (
        HardStartStage(1, hard_file, "ne"),
        HardStartStage(90, easy, "main"),
        HardStartStage(2, easy, "buffer"),
        HardStartStage(2, hard_file, "ne"),
        HardStartStage(90, easy, "main"),
        HardStartStage(1, hard_file, "ne"),
    )
    hard = built(files, planned=30, stages=stages, min_reinjections=(MinReinjections("ne", 2),))
    told = [status(hard.observe_update(report(update, 1))) for update in range(1, 31)]
    reinjections = [facts["ne_reinjections"] for facts in told]
    assert reinjections == [0] * 9 + [1] * 10 + [2] * 11
    assert {facts["reinjections_owed"]["ne"] for facts in told} == {0}
    assert told[-1]["reinjections_by_type"] == {"ne": 2, "main": 1, "buffer": 0}
    assert told[-1]["consumed"] == 30
    assert told[9]["skipped"] == 2 * (1 + 90 + 2) - 10
    without = built(files, planned=30, stages=stages)
    assert status([*(without.observe_update(report(update, 1)) for update in range(1, 31))][-1])["ne_reinjections"] == 0


def test_promises_that_cannot_be_kept_are_refused(files):
    easy, hard = files
    stages = (HardStartStage(10, easy, "main"), HardStartStage(2, hard, "ne"), HardStartStage(2, hard, "ne"))
    with pytest.raises(
        ConfigError, match=r"kind 'ne' are to come back 2 times, which takes 3 stages .* there are 2; add"
    ):
        HardStartsConfig(stages, min_reinjections=(MinReinjections("ne", 2),))
    HardStartsConfig(stages, min_reinjections=(MinReinjections("ne", 2),), cycled=True)
    promise = {"min_reinjections": (MinReinjections("ne", 1),), "unit": "updates", "stages": stages}
    built(files, planned=13, **promise)
    with pytest.raises(ConfigError, match="within the 12 planned updates they come back 0 times; shorten"):
        built(files, planned=12, **promise)


def harvesting(files, **settings):
    easy, _ = files
    stages = (HardStartStage(1, easy, "main"), HardStartStage(4, None, "harvested", share=0.5))
    return built(files, stages=stages, harvest=HarvestConfig(**settings))


def test_a_stage_that_waits_for_its_harvest_deals_what_its_neighbour_does(files):
    hard = harvesting(files)
    hard.observe_update(report(1, 2))
    starts = hard.starts(Clock(updates=1))
    assert velocities(starts)[:2] == [(1, 0), (2, 0)] and hard.share(Clock(updates=1)) == 0.5
    alone = built(files, stages=(HardStartStage(4, None, "harvested"),))
    assert alone.starts(Clock()) == () and alone.share(Clock()) == 0.0


def test_the_worst_starts_of_evaluations_are_dealt(files):
    hard = harvesting(files)
    hard.observe_update(report(1, 2))
    state = {"predator_velocity": [0.0, 9.0], "fish": [[1.0, 2.0]]}
    (ruling,) = hard.observe_evaluation(worst(1, state, {"predator_velocity": [0.0, 9.0001], "fish": [[1.0, 2.0]]}))
    assert ruling.schedule == "hard_start_harvest"
    assert {name: ruling.facts[name] for name in ("offered", "taken", "unusable", "kept")} == {
        **{"offered": 2, "taken": 2, "unusable": 0, "kept": 1}
    }
    assert ruling.facts["dropped"]["duplicates"] == 1
    starts = hard.starts(Clock(updates=1))
    assert [start.kind for start in starts] == ["harvested"] * 4
    assert {tuple(start.state["predator_velocity"]) for start in starts} == {(0.0, 9.0)}
    assert starts[0].state == state
    assert status(hard.observe_update(report(2)))["harvested"] == 1


def test_a_harvest_is_bounded_and_the_oldest_go_first(files):
    hard = harvesting(files, most=3, per_evaluation=2)
    hard.observe_update(report(1, 2))
    for update in range(1, 5):
        states = [{"predator_velocity": [float(update), float(i)]} for i in range(4)]
        facts = hard.observe_evaluation(worst(update, *states))[0].facts
        assert (facts["offered"], facts["taken"]) == (4, 2) and facts["kept"] <= 3
    assert velocities(hard.starts(Clock()))[:3] == [(3.0, 1.0), (4.0, 0.0), (4.0, 1.0)]


def test_what_is_no_start_is_left_out_and_counted(files):
    hard = harvesting(files)
    facts = hard.observe_evaluation(worst(1, {"a": "b"}, {"a": 1.0}))[0].facts
    assert (facts["taken"], facts["unusable"], facts["kept"]) == (1, 1, 1)
    assert hard.observe_evaluation(EvaluationReport(2, 0, {})) == ()
    assert built(files).observe_evaluation(worst(1, {"a": 1.0})) == ()  # no stage is fed with it


@pytest.mark.parametrize("unit", ["episodes", "updates"])
def test_it_can_be_saved_in_the_middle_of_a_stage(files, unit):
    easy, hard_file = files
    stages = (
        HardStartStage(2, easy, "main"),
        HardStartStage(9, None, "harvested"),
        HardStartStage(3, hard_file, "ne"),
        HardStartStage(1, easy, "main"),
        HardStartStage(3, hard_file, "ne"),
    )

    def make():
        warning = StartWarningConfig(ratio=0.9, patience=2)
        promises = (MinReinjections("ne", 1),) if unit == "episodes" else ()
        return built(files, stages=stages, planned=8, unit=unit, warning=warning, min_reinjections=promises)

    def advance(hard):
        now = len(hard.state()["recent"])
        for update in range(now + 1, now + 4):
            hard.observe_update(report(update, 2))
            hard.observe_evaluation(worst(update, {"predator_velocity": [float(update), 1.0]}))

    def digest(hard):
        clock = Clock(updates=len(hard.state()["recent"]))
        return hard.starts(clock), hard.share(clock), hard.kind(clock.updates)

    check_saveable(make, advance, digest)


def test_with_other_schools_than_before_the_queue_is_where_it_was(files):
    """A run that steps down to half its lanes has half as many schools, and stages half as long."""
    before, after = built(files, schools=4), built(files, schools=2)
    before.observe_update(report(1, 6))
    where = status(before.observe_update(report(2, 3)))  # 9 of 12 places
    after.restore(before.state())
    now = status(after.observe_update(report(3, 0)))
    assert (where["label"], where["progress"], where["remaining"]) == (now["label"], 0.25, 3)
    assert (now["progress"], now["remaining"], now["consumed"]) == (0.0, 2, 4)  # whole places
    assert len(after.starts(Clock(updates=3))) == 2


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: HardStartsConfig(()), "the hard starts have no stages"),
        (lambda: HardStartStage(0, "x"), "a hard-start stage's iterations must be at least 1, not 0"),
        (lambda: HardStartStage(1, " "), "a hard-start stage's file has an empty name"),
        (lambda: HardStartStage(1, "x", kind="NE"), "kind must be a word in lower case, not 'NE'"),
        (lambda: HardStartStage(1, "x", share=1.5), "a hard-start stage's share must be from"),
        (lambda: HardStartStage(1, "x", velocity_scale=0.0), "velocity-scale must be above 0"),
        (lambda: HardStartsConfig((HardStartStage(1, "x"),), share=-0.1), "the hard starts' share must be from"),
        (
            lambda: HardStartsConfig((HardStartStage(1, "a/b.json", "odd"),)),
            "stage1:b is of the kind 'odd', and the kinds here are main, ne, buffer, harvested; correct it",
        ),
        (lambda: StartWarningConfig(ratio=1.5), "a start warning's ratio must be from"),
        (lambda: StartWarningConfig(patience=0), "a start warning's patience must be at least 1"),
        (lambda: HarvestConfig(most=0), "the harvest's most must be at least 1"),
        (lambda: MinReinjections("ne", 0), "a re-injection's count must be at least 1"),
    ],
)
def test_what_is_no_queue_is_refused(make, complaint):
    with pytest.raises(ConfigError, match=complaint):
        make()


def test_any_kind_will_do_where_none_are_listed():
    config = HardStartsConfig((HardStartStage(1, "v34-ne", "odd"),), kinds=())
    assert replace(config, share=0.5).stages[0].kind == "odd"


def test_a_stage_whose_file_is_missing_is_refused_at_the_start(files):
    with pytest.raises(ConfigError, match=r"no file of starts 'nowhere\.json'"):
        built(files, stages=(HardStartStage(1, "nowhere.json"),))
