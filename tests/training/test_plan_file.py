"""Plans as TOML files."""

from pathlib import Path

import pytest

from respawn.errors import ConfigError, RunFolderError
from respawn.presets import find_preset
from respawn.schedules.curves import curve_factor
from respawn.training.config_file import with_config_file
from respawn.training.plan_file import PlanOrder, default_plan_name, laid_over, make_plan, read_plan_file

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
TEXT = """
preset = "cartpole-ppo"
seed = 3
planned_updates = 50
[learner]
clip = 0.3
entropy_cost = 0.02
[[stages]]
name = "first"
[[stages]]
name = "second"
planned_updates = 70
[stages.learner]
clip = 0.1
"""


def written(tmp_path, text=TEXT):
    path = tmp_path / "small.toml"
    path.write_text(text)
    return path


def plan_of(path, **order):
    file = read_plan_file(path)
    return make_plan(file, find_preset(file.preset), file.preset, PlanOrder(**order))


def test_stages_lay_their_settings_over_the_shared_ones(tmp_path):
    first, second = plan_of(written(tmp_path)).stages
    assert (first.number, first.name, first.run, first.own) == (1, "first", "small-s3-1-first", {})
    assert (second.run, second.own) == ("small-s3-2-second", {"planned_updates": 70, "learner.clip": 0.1})
    assert [stage.config.learner.clip for stage in (first, second)] == [0.3, 0.1]
    assert [stage.config.learner.entropy_cost for stage in (first, second)] == [0.02, 0.02]
    assert [stage.config.planned_updates for stage in (first, second)] == [50, 70]
    assert [stage.config.seed for stage in (first, second)] == [3, 3]
    assert [stage.config.weights_from for stage in (first, second)] == ["", "small-s3-1-first"]
    assert first.config.model == find_preset("cartpole-ppo").model


def test_what_is_asked_for_goes_before_the_file(tmp_path):
    path = written(tmp_path, 'weights_from = "boot"\n' + TEXT)
    plan = plan_of(path, overrides={"seed": 8, "device": "cpu"}, most_updates=60)
    assert [stage.run for stage in plan.stages] == ["small-s8-1-first", "small-s8-2-second"]
    assert [stage.config.weights_from for stage in plan.stages] == ["boot", "small-s8-1-first"]
    for stage, last, planned in zip(plan.stages, (50, 60), (50, 70), strict=True):
        assert (stage.config.seed, stage.config.device) == (8, "cpu")
        assert (stage.config.last_update, stage.config.planned_updates) == (last, planned)
    assert [stage.run for stage in plan_of(path, name="mine").stages] == ["mine-1-first", "mine-2-second"]


def test_stages_can_be_left_out_and_keep_their_numbers(tmp_path):
    (second,) = plan_of(written(tmp_path), first="second").stages
    assert (second.number, second.run, second.config.weights_from) == (2, "small-s3-2-second", "")
    (second,) = plan_of(written(tmp_path, 'weights_from = "boot"\n' + TEXT), first="second").stages
    assert second.config.weights_from == "boot"


def test_shared_settings_need_not_be_a_run_by_themselves(tmp_path):
    text = '[evaluation]\nstop_at = 0.9\n[[stages]]\nname = "a"\n[stages.evaluation]\nevery_updates = 5\n'
    (stage,) = plan_of(written(tmp_path, 'preset = "memory-gru"\n' + text)).stages
    assert (stage.config.evaluation.stop_at, stage.config.evaluation.every_updates) == (0.9, 5)


def test_files_of_starts_are_found_from_the_plans_own_folder(tmp_path):
    start = '[[stages.schedules.curriculum.hard_starts.stages]]\niterations = 3\nfile = "mine.json"\n'
    text = 'preset = "fish-v40"\n[[stages]]\nname = "a"\n' + start
    (stage,) = plan_of(written(tmp_path, text)).stages
    assert [start.file for start in stage.config.schedules.curriculum.hard_starts.stages] == [
        str(tmp_path / "mine.json")
    ]


def test_tables_are_laid_over_each_other_and_all_else_is_replaced():
    below = {"a": {"b": 1, "c": [1, 2]}, "d": 2}
    assert laid_over(below, {"a": {"c": [3]}, "d": {"e": 4}}) == {"a": {"b": 1, "c": [3]}, "d": {"e": 4}}
    assert below == {"a": {"b": 1, "c": [1, 2]}, "d": 2}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seed = 1", r"is no plan: a plan has \[\[stages\]\], .* respawn train --config"),
        ("stages = 3", r"is no plan: a plan has \[\[stages\]\]"),
        ("stages = []", r"is no plan: a plan has \[\[stages\]\]"),
        ("a = [", "'respawn plan' wants a TOML file, and .*small.toml is none"),
        ("[[stages]]\nseed = 1", r"small.toml, stage 1: its name must be of 1 to 40 letters, .*, not None"),
        ("[[stages]]\nname = 'a b'", r"stage 1: its name must be .*, not 'a b'"),
        ("[[stages]]\nname = 'a'\n[[stages]]\nname = 'a'", "stage 2: another stage is called 'a' already"),
        ("[[stages]]\nname = 'a'\nseed = 1", "stage 'a': seed belongs above the stages, for all stages have one seed"),
        ("[[stages]]\nname = 'a'\npreset = 'mario'", "stage 'a': preset belongs above the stages"),
        ("[[stages]]\nname = 'a'\nweights_from = 'b'", "stage 'a': weights_from belongs above the stages"),
        ("sed = 1\n[[stages]]\nname = 'a'", r"does not describe a plan: there is no setting sed; did you mean seed\?"),
        (
            "[[stages]]\nname = 'a'\n[[stages]]\nname = 'b'\n[stages.learner]\nclp = 0.1",
            r"stage 'b': there is no setting learner\.clp; did you mean learner\.clip\?",
        ),
        ("[[stages]]\nname = 'a'\nupdates = 'many'", "stage 'a': .*updates"),
        (
            "[[stages]]\nname = 'a'\n[stages.learner]\nclip = 'x'",
            "stage 'a': learner.clip wants a number, and 'x' came",
        ),
        ("[[stages]]\nname = 'a'\nplanned_updates = 0", "stage 'a': --planned-updates must be from 1"),
    ],
)
def test_mistakes_are_named_with_their_stage(text, sentence, tmp_path):
    with pytest.raises(ConfigError, match=sentence):
        make_plan(read_plan_file(written(tmp_path, text)), find_preset("cartpole-ppo"), "cartpole-ppo", PlanOrder())


def test_there_must_be_such_a_stage_and_such_a_name(tmp_path):
    with pytest.raises(ConfigError, match=r"--from secnd: there is no such stage; did you mean second\? .* has first"):
        plan_of(written(tmp_path), first="secnd")
    with pytest.raises(RunFolderError, match="a run's name is made of 1 to 128 letters"):
        plan_of(written(tmp_path), name="no/where")


def test_a_plan_is_no_run(tmp_path):
    path = written(tmp_path)
    with pytest.raises(ConfigError, match="is a plan of several stages, and --config wants one run; try: respawn plan"):
        with_config_file(find_preset("cartpole-ppo"), path)


def test_commands_can_be_pasted_where_a_folder_has_a_space(tmp_path):
    folder = tmp_path / "my plans"
    folder.mkdir()
    path = written(folder)
    with pytest.raises(ConfigError) as refused:
        with_config_file(find_preset("cartpole-ppo"), path)
    assert str(refused.value).endswith(f"; try: respawn plan '{path}'")
    with pytest.raises(ConfigError) as refused:
        read_plan_file(written(folder, "seed = 1"))
    assert str(refused.value).endswith(f" with: respawn train --config '{path}'")


def test_runs_are_called_after_the_file_or_its_folder():
    assert default_plan_name(Path("some/long.one.toml"), 0) == "long.one-s0"
    assert default_plan_name(Path("experiments/0006-reference-phases/plan.toml"), 2) == "0006-reference-phases-s2"
    assert default_plan_name(Path("a b/.hidden ä.toml"), 1) == "hidden--s1"


def scale_after(config, decisions_of_a_lane):
    """The reward's scale when each lane has made so many decisions."""
    updates = round(decisions_of_a_lane / config.collection.horizon_steps)
    return config.world.rewards.scale * curve_factor(config.schedules.reward_scale, updates, config.planned_updates)


def test_the_references_phases_are_its_table():
    plan = plan_of(EXPERIMENTS / "0006-reference-phases" / "plan.toml")
    table = [
        (stage.name, stage.config.last_update, stage.config.world.rewards.distance, stage.config.world.rewards.scale)
        for stage in plan.stages
    ]
    assert table == [("bootstrap", 2000, 0.08, 0.2), ("main", 30_000, 0.04, 0.15), ("refine", 50_000, 0.02, 0.12)]
    for stage, final, anneal in zip(plan.stages, (0.1, 0.08, 0.06), (50_000, 50_000, 30_000), strict=True):
        config = stage.config
        assert (config.collection.num_lanes, config.collection.horizon_steps) == (8, 64)
        assert config.world.actions == "extended"
        halfway = (config.world.rewards.scale + final) / 2
        assert scale_after(config, anneal / 2) == pytest.approx(halfway, abs=2e-4)
        assert scale_after(config, anneal - 640) > final + 1e-4
        assert scale_after(config, anneal + 64) == pytest.approx(final)
        assert scale_after(config, config.last_update * 64) == pytest.approx(final)
    scripts = [stage.config.schedules.progression.script for stage in plan.stages]
    assert scripts == ["RIGHT+B:180", "", ""]


def test_the_references_bootstrap_is_its_preset():
    path = EXPERIMENTS / "0007-reference-bootstrap" / "config.toml"
    config = with_config_file(find_preset("mario-seed"), path)
    helps = config.schedules.progression
    assert (config.world.rewards.distance, helps.script) == (0.12, "RIGHT+B:240,RIGHT+A+B:60")
    assert (helps.probe_decisions, helps.bootstrap_after, helps.bootstrap_frames) == (24, 120, 1024)
    scales = [scale_after(config, decisions) for decisions in (0, 40_000, 80_000)]
    assert scales == pytest.approx([0.25, 0.185, 0.12])
