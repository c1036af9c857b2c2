"""What a curriculum in Mario's levels needs, and what is refused without it."""

from dataclasses import replace

import pytest

from respawn.contracts.clock import Clock
from respawn.errors import ConfigError
from respawn.evaluation.config import EvaluationConfig, ScoutConfig
from respawn.presets.cartpole import PRESETS as CARTPOLE
from respawn.presets.mario import PRESETS
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage
from respawn.schedules.hard_starts import HardStarts
from respawn.schedules.level_gate import LevelsConfig
from respawn.training.config import config_from_json, config_sha256, config_to_json
from respawn.training.judge import check_fresh_seeds
from respawn.worlds.mario.config import MarioConfig

PRESET = PRESETS["mario-curriculum"]
NO_EVALUATION = EvaluationConfig()


def with_levels(config, levels=None):
    return replace(config, schedules=replace(config.schedules, levels=levels or LevelsConfig()))


def with_scouts(**settings):
    scout = replace(PRESET.evaluation.scout, **settings)
    return replace(PRESET, evaluation=replace(PRESET.evaluation, scout=scout))


def with_stage(**settings):
    curriculum = PRESET.schedules.curriculum
    stages = (*curriculum.hard_starts.stages, HardStartStage(10, **settings))
    hard_starts = replace(curriculum.hard_starts, stages=stages)
    schedules = replace(PRESET.schedules, curriculum=replace(curriculum, hard_starts=hard_starts))
    return replace(PRESET, schedules=schedules)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: with_levels(CARTPOLE["cartpole-ppo"]), "there are none here"),
        (lambda: with_levels(PRESETS["mario"]), "at least two stages"),
        (lambda: with_levels(replace(PRESETS["mario"], world=MarioConfig(whole_game=True))), "there are none here"),
        (lambda: with_levels(PRESETS["mario-levels"], LevelsConfig(stages=(1, 5))), "names level 5"),
        (lambda: with_levels(replace(PRESETS["mario-levels"], evaluation=NO_EVALUATION)), "evaluation.every-updates"),
        (lambda: replace(PRESET, evaluation=replace(PRESET.evaluation, episodes=2)), "too few to play"),
        (lambda: replace(PRESET, evaluation=replace(PRESET.evaluation, scout=ScoutConfig())), "nobody harvests"),
        (lambda: replace(PRESETS["mario"], evaluation=PRESET.evaluation), "leave it out, or add one"),
        (lambda: replace(CARTPOLE["cartpole-ppo"], evaluation=PRESET.evaluation), "leave it out, or add one"),
        (lambda: EvaluationConfig(scout=ScoutConfig(episodes=4)), "beside evaluations"),
        (lambda: with_levels(PRESETS["mario-levels"], LevelsConfig(freeze_updates=25)), "are never felt"),
        (lambda: with_levels(PRESETS["mario-levels"], LevelsConfig(lock_until=1000)), "nothing would ever open"),
        (lambda: with_levels(PRESETS["mario-levels"], LevelsConfig(lock_until=975)), "1 come after update 975"),
        (lambda: with_levels(PRESETS["mario-levels"], LevelsConfig(required_successes=41)), "40 come after update 0"),
        (lambda: ScoutConfig(greedy=True), "scout.greedy has no effect without scouts"),
        (lambda: ScoutConfig(nearest_steps=5), "scout.nearest-steps has no effect without scouts"),
        (lambda: with_scouts(nearest_steps=4000, farthest_steps=5000), "no scout's episode is longer than 4000"),
        (lambda: with_stage(velocity_scale=0.5), "Mario's starts have no velocity"),
        (lambda: with_stage(file="v34-ne"), "use starts that Mario's evaluations found"),
    ],
)
def test_what_cannot_work_is_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_it_is_read_back_as_it_was_written():
    assert config_from_json(config_to_json(PRESET)) == PRESET


def test_runs_from_before_are_recognised_and_each_setting_makes_another_run():
    plain = PRESETS["mario-levels"]
    older = config_to_json(plain)
    del older["schedules"]["levels"], older["evaluation"]["scout"]
    assert config_sha256(config_from_json(older)) == config_sha256(plain)
    assert config_sha256(with_levels(plain)) != config_sha256(plain)
    scouts = replace(PRESET.evaluation, scout=replace(PRESET.evaluation.scout, nearest_steps=11))
    assert config_sha256(replace(PRESET, evaluation=scouts)) != config_sha256(PRESET)


def test_nothing_is_judged_on_seeds_that_hard_starts_come_from():
    check_fresh_seeds(PRESET, 3_000_000, 3_000_100)
    with pytest.raises(ConfigError, match="harvested from"):
        check_fresh_seeds(PRESET, 1_000_000_000, 1_000_000_100)


@pytest.mark.parametrize(("final", "shares"), [(1.0, [0.4, 0.4, 0.4]), (0.5, [0.4, 0.3, 0.2]), (0.0, [0.4, 0.2, 0.0])])
def test_the_share_of_hard_starts_falls_to_its_final_fraction(final, shares):
    config = HardStartsConfig(stages=(HardStartStage(100, "v34-ne", "ne"),), share=0.4, final_fraction=final)
    starts = HardStarts(config, num_schools=1, planned_updates=20)
    assert [starts.share(Clock(updates=updates)) for updates in (0, 10, 20)] == pytest.approx(shares)


def test_a_final_fraction_is_one():
    with pytest.raises(ConfigError, match="final-fraction"):
        HardStartsConfig(stages=(HardStartStage(1),), final_fraction=1.5)


@pytest.mark.parametrize("name", ["cleared", "cleared_1_2", "cleared_open", "cleared_open_worst"])
def test_clear_rates_may_choose_the_best_checkpoint(name):
    metric = f"evaluation/{name}"
    changed = replace(PRESET, checkpoints=replace(PRESET.checkpoints, best_metric=metric))
    assert changed.checkpoints.best_metric == metric
    if name != "cleared":
        with pytest.raises(ConfigError, match="best-metric must be one of"):
            replace(PRESETS["mario"], checkpoints=changed.checkpoints)
