"""Schools of fish that are left in the middle of a phase, of a freeze and of a stage of hard starts go on exactly."""

import json
import signal
from dataclasses import replace

import pytest
from respawn_process import start, wait_until
from tiny_runs import LEARNERS, begin_and_abandon, count_rows, saving_every, timeless_rows, tiny, trace

from respawn.checkpoints.store import find_newest
from respawn.collection.config import CollectionConfig
from respawn.evaluation.config import EvaluationConfig
from respawn.runs.layout import RunFolder
from respawn.schedules.boost import AdaptiveBoostConfig, BoostConfig, PenaltyCap
from respawn.schedules.config import CurveConfig, SchedulesConfig
from respawn.schedules.curriculum_config import CurriculumConfig
from respawn.schedules.gate_config import DEATH_P10, SURVIVAL_MEAN, Criterion, GateConfig
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage, HarvestConfig, StartWarningConfig
from respawn.schedules.phases import PenaltyLock, Phase
from respawn.schedules.windows import ValueWindow
from respawn.training.launch import begin, take_up
from respawn.training.recorded import load_config
from respawn.worlds.fish.config import FishConfig

UPDATES = 20
STAGES = (HardStartStage(6, "v34-ne", "ne"), HardStartStage(8, None, "harvested"), HardStartStage(6, "v33-stage3"))
HARD_STARTS = HardStartsConfig(
    stages=STAGES, share=0.5, warning=StartWarningConfig(ratio=0.7, patience=2), harvest=HarvestConfig(most=5)
)
GATE = GateConfig(
    allowance=(2, 3),
    required_successes=1,
    freeze_updates=6,
    success=(Criterion(SURVIVAL_MEAN, at_least=0.2, window=2, rule="median"),),
    failure=(Criterion(DEATH_P10, at_least=4.0),),
)
CURRICULUM = CurriculumConfig(
    phases=(
        Phase(7, size=2, penalty=0.0, boost=0.7),
        Phase(7, size=4, penalty=0.05, ramp=True, boost=0.8),
        Phase(6, size=3, penalty=0.1, boost=0.9),
    ),
    penalty_lock=PenaltyLock(0.04, 6),
    boost=BoostConfig(caps=(PenaltyCap(0.05, 0.85),), adaptive=AdaptiveBoostConfig(window=2, min_update=3)),
    gate=GATE,
    hard_starts=HARD_STARTS,
)
WORLD = FishConfig(
    fish=4,
    judged_fish=5,
    limit_steps=12,
    forced_reset_steps=7,
    forced_reset_share=0.5,
    staggered=True,
    spawn_radius=3.0,
    pre_roll_steps=3,
)
BY_EPISODES = replace(HARD_STARTS, unit="episodes", stages=tuple(replace(s, iterations=3) for s in STAGES), cycled=True)


def school(learner="ppo", *, generator="hash", lag=0, threaded=True, curriculum=CURRICULUM, **changes):
    """Three schools of up to four fish, eight steps a rollout; judged every 4 updates and saved every 5."""
    seeds = "reference" if generator == "numpy" else "consecutive"
    return replace(
        tiny(learner),
        updates=UPDATES,
        planned_updates=UPDATES,
        world=replace(WORLD, generator=generator, judged_seeds=seeds, **changes),
        learner=LEARNERS[learner],
        collection=CollectionConfig(num_lanes=12, horizon_steps=8, lag=lag, threaded=threaded),
        evaluation=EvaluationConfig(every_updates=4, episodes=3, num_lanes=3),
        checkpoints=saving_every(5),
        schedules=SchedulesConfig(
            learning_rate=CurveConfig("warm_cosine"),
            entropy_windows=(ValueWindow(9, 12, 0.05),),
            curriculum=curriculum,
        ),
    )


RUNS = {
    "ppo": school(),
    "ppo-numpy-lag1": school(generator="numpy", lag=1),
    "vtrace-lag1-serial": school("vtrace", lag=1, threaded=False),
    "vtrace-numpy": school("vtrace", generator="numpy", limit_truncates=False),
    "starts-by-episodes": school(curriculum=replace(CURRICULUM, hard_starts=BY_EPISODES)),
    "starts-by-episodes-lag1": school(curriculum=replace(CURRICULUM, hard_starts=BY_EPISODES), lag=1),
    "legacy-gate": school(curriculum=replace(CURRICULUM, gate=replace(GATE, mode="legacy", success_freeze_updates=5))),
    "steering-freely": school(steering="continuous", neighbours=False, spawn_distance=0.5),
}


def everything(folder):
    """All that an interruption may not change: of every run, and what schedules concluded and probes found."""
    return trace(folder), timeless_rows(folder.rulings), timeless_rows(folder.probes)


def straight_through(config, runs_dir, name="straight"):
    """Without any interruption; how often it is saved makes no difference, so it hardly is."""
    seldom = replace(config.checkpoints, every_updates=0)
    folder, _ = begin(replace(config, checkpoints=seldom), preset="test", runs_dir=runs_dir, name=name)
    return everything(folder)


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory):
    """Each run of RUNS without interruption, made once."""
    runs_dir, made = tmp_path_factory.mktemp("whole"), {}

    def run(name):
        if name not in made:
            made[name] = straight_through(RUNS[name], runs_dir, name)
        return made[name]

    return run


@pytest.mark.parametrize("name", RUNS)
def test_left_in_the_middle_and_taken_up_is_the_same_run(name, whole_runs, tmp_path, monkeypatch):
    folder = begin_and_abandon(RUNS[name], tmp_path, monkeypatch, after=11)
    assert find_newest(folder.checkpoints).manifest.updates == 10
    assert take_up(folder).updates == UPDATES
    check_same(everything(folder), whole_runs(name))


def test_the_run_is_saved_in_the_middle_of_everything(whole_runs):
    """What the test above is worth: at update 10 a phase, a freeze, a stage and a harvest are under way."""
    _, rulings, probes = whole_runs("ppo")
    told = {}
    for row in rulings:
        told.setdefault(row["schedule"], {})[row["update"]] = row["facts"]
    assert [told["curriculum"][update]["phase"] for update in (8, 10, 11, 14)] == [2, 2, 2, 2]
    frozen = {update: facts["freeze_until"] for update, facts in told["penalty_gate"].items()}
    assert frozen[8] > 12  # … so the evaluation after it is frozen
    assert told["penalty_gate"][12]["event"] == "frozen"
    assert [told["hard_starts"][update]["stage_type"] for update in (9, 10, 11)] == ["harvested"] * 3
    assert told["hard_starts"][10]["harvested"] > 0 and told["hard_starts"][20]["taken_total"] > 5
    assert [row["update"] for row in probes] == [4, 8, 12, 16, 20]


@pytest.mark.parametrize("after", [1, 15])
def test_left_anywhere(after, whole_runs, tmp_path, monkeypatch):
    config = replace(RUNS["ppo-numpy-lag1"], checkpoints=saving_every(1))
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=after)
    take_up(folder)
    check_same(everything(folder), whole_runs("ppo-numpy-lag1"))


def test_left_again_and_again(whole_runs, tmp_path, monkeypatch):
    config = replace(RUNS["starts-by-episodes"], checkpoints=saving_every(1))
    folder = begin_and_abandon(config, tmp_path, monkeypatch, after=3)
    for limit in (6, 7, 11, 15, UPDATES):
        take_up(folder, updates=limit)
    check_same(everything(folder), whole_runs("starts-by-episodes"))


def test_kill_minus_nine(tmp_path):
    words = {
        "world.fish": 4,
        "world.judged-fish": 5,
        "world.limit-steps": 20,
        "world.forced-reset-steps": 9,
        "model.hidden-sizes": 16,
        "collection.num-lanes": 12,
        "collection.horizon-steps": 8,
        "learner.minibatches": 2,
        "evaluation.every-updates": 4,
        "evaluation.episodes": 3,
        "checkpoints.every-updates": 3,
        "threads": 1,
        "updates": 2000,
        "planned-updates": 2000,
        "device": "cpu",
        "name": "left",
        "runs": tmp_path,
    }
    named = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    process = start("train", "fish", *named, "--observers.no-tensorboard")
    folder = RunFolder(tmp_path / "left")
    wait_until(lambda: count_rows(folder.updates) >= 10, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    last = count_rows(folder.updates) + 5
    take_up(folder, updates=last)
    config = replace(load_config(folder), observers=tiny().observers)
    check_same(everything(folder), straight_through(config, tmp_path))


def check_same(came, expected):
    """One part after the other, so that what differs is named; as text, for a first death may be NaN."""
    (trace_came, *rows_came), (trace_expected, *rows_expected) = came, expected
    for name in ("updates", "episodes", "evaluations"):
        rows_came.append(getattr(trace_came, name))
        rows_expected.append(getattr(trace_expected, name))
    for rows, wanted in zip(rows_came, rows_expected, strict=True):
        assert [json.dumps(row, sort_keys=True) for row in rows] == [json.dumps(row, sort_keys=True) for row in wanted]
    assert trace_came.state_files == trace_expected.state_files
    assert trace_came.weights_sha256 == trace_expected.weights_sha256
