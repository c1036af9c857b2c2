"""Every preset of fish trains, and what is wrong with a specification is said before anything begins."""

import json
from dataclasses import replace

import pytest

from respawn.cli.main import main
from respawn.errors import ConfigError
from respawn.learners.ppo.config import PPOConfig
from respawn.models.config import ModelConfig
from respawn.observers.config import ObserversConfig
from respawn.presets.fish import PRESETS
from respawn.presets.fish_v40 import SCHEDULES, SOUND_GATE, STAGES
from respawn.schedules.gate_config import STEP_ONE_RATIO, SURVIVAL_MEAN, Criterion
from respawn.schedules.hard_start_config import HardStartsConfig, HardStartStage
from respawn.schedules.phases import Phase
from respawn.training.launch import begin

V40 = PRESETS["fish-v40"]


def small(name, **changes):
    """A preset with two schools, four steps a rollout and a small net; judged after two updates."""
    preset = PRESETS[name]
    fish = min(preset.world.fish, 300)
    learner = preset.learner
    if isinstance(learner, PPOConfig):
        learner = replace(learner, minibatches=2, epochs=1)
    config = replace(
        preset,
        updates=2,
        device="cpu",
        threads=1,
        world=replace(preset.world, fish=fish, judged_fish=6, limit_steps=20),
        model=ModelConfig(hidden_sizes=(8,)),
        learner=learner,
        collection=replace(preset.collection, num_lanes=2 * fish, horizon_steps=4),
        evaluation=replace(preset.evaluation, every_updates=2, episodes=2, num_lanes=2),
        observers=ObserversConfig(console=False, tensorboard=False),
    )
    return replace(config, **changes)


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_makes_its_first_updates(name, tmp_path):
    config = small(name)
    folder, outcome = begin(config, preset=name, runs_dir=tmp_path, name="tiny")
    assert (outcome.status, outcome.updates) == ("finished", 2)
    updates, (judged,) = rows(folder.updates), rows(folder.evaluations)
    assert len(updates) == 2 and 0.0 <= judged["evaluation/survival_mean"] <= 1.0
    (probe,) = rows(folder.probes)
    assert probe["facts"]["num_fish"] == 6 and probe["facts"]["episodes"] == 2


def test_v40_has_its_curriculum_from_the_first_update(tmp_path):
    folder, _ = begin(small("fish-v40"), preset="fish-v40", runs_dir=tmp_path, name="tiny")
    told = {}
    for row in rows(folder.rulings):
        told.setdefault(row["schedule"], []).append(row["facts"])
    assert [facts["size"] for facts in told["curriculum"]] == [15.0, 15.0]
    assert [facts["boost"] for facts in told["curriculum"]] == [0.75, 0.75]
    assert told["hard_starts"][0]["taken"] == 2  # every school began anew with fifteen fish, and with a hard start
    assert told["hard_starts"][0]["stage_type"] == "ne"
    assert len(told["penalty_gate"]) == 1
    decisions = rows(folder.updates)[-1]["decisions"]
    assert 0 < decisions <= 2 * 4 * 2 * 15


class TestBadSpecifications:
    """Each is refused in one sentence, and leaves no run behind."""

    def refused(self, tmp_path, config, sentence):
        runs = tmp_path / "runs"
        with pytest.raises(ConfigError, match=sentence) as refusal:
            begin(config, preset="fish-v40", runs_dir=runs, name="never")
        assert "\n" not in str(refusal.value)
        assert not runs.exists()

    def with_curriculum(self, **changes):
        curriculum = replace(SCHEDULES.curriculum, **changes)
        return small("fish-v40", schedules=replace(SCHEDULES, curriculum=curriculum))

    def with_file(self, path, kind="main"):
        return self.with_curriculum(hard_starts=HardStartsConfig((HardStartStage(60, str(path), kind),)))

    def test_phases_that_do_not_fill_the_plan(self, tmp_path):
        self.refused(tmp_path, small("fish-v40", planned_updates=50), "last 60 updates together, but 50 are planned")
        short = self.with_curriculum(phases=SCHEDULES.curriculum.phases[:-1], gate=None)
        self.refused(tmp_path, short, "last 52 updates together, but 60 are planned")

    def test_an_unknown_kind_of_stage(self):
        with pytest.raises(ConfigError, match="stage1:v34-ne is of the kind 'nee', and the kinds here are main, ne"):
            HardStartsConfig((replace(STAGES[0], kind="nee"),))

    def test_a_file_that_is_not_there(self, tmp_path):
        self.refused(
            tmp_path, self.with_file("v99-nowhere"), "no file of starts 'v99-nowhere'; give a path, or one of v32"
        )

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("{", "should hold JSON"),
            ("[]", "should hold a JSON object"),
            ("{}", "holds no starts"),
            ('{"velocities": []}', "holds no starts"),
            ('{"velocities": 3}', "velocities must be a list, not 3"),
            ('{"velocities": [[1.0, 2.0], [NaN, 1.0]]}', r"velocities\[1\].*must be finite, not nan"),
            ('{"velocities": [[1.0, Infinity]]}', r"velocities\[0\].*must be finite, not inf"),
            ('{"velocities": [[1.0]]}', r"velocities\[0\] must be a pair of numbers"),
            ('{"velocities": [[1.0, "2"]]}', r"velocities\[0\].*must be a number"),
            ('{"starts": [{"state": {}}]}', r"starts\[0\]\.state must be an object"),
            ('{"starts": [{"state": {"predator_velocity": [true, 1]}}]}', r"starts\[0\].*must be a number"),
        ],
    )
    def test_a_file_that_holds_something_else(self, tmp_path, text, sentence):
        path = tmp_path / "starts.json"
        path.write_text(text)
        self.refused(tmp_path, self.with_file(path), sentence)

    def test_a_file_that_is_not_even_text(self, tmp_path):
        path = tmp_path / "starts.json"
        path.write_bytes(b"\xff\xfe\x00")
        self.refused(tmp_path, self.with_file(path), "should hold JSON")
        self.refused(tmp_path, self.with_file(tmp_path), "cannot be read")

    def test_a_sound_gate_that_contradicts_itself(self, tmp_path):
        gate = replace(SOUND_GATE, failure=(Criterion(SURVIVAL_MEAN, at_least=0.97),))
        self.refused(tmp_path, self.with_curriculum(gate=gate), "the gate cannot work as configured: a success needs")

    def test_a_sound_gate_that_the_doomed_keep_shut(self, tmp_path):
        gate = replace(SOUND_GATE, success=(Criterion(STEP_ONE_RATIO, at_most=0.001),), failure=())
        config = self.with_curriculum(gate=gate)
        config = replace(config, updates=60, world=replace(config.world, judged_fish=96))
        self.refused(tmp_path, config, "no policy can keep evaluation/step_one_ratio at most 0.001, because")

    def test_a_gate_for_phases_that_there_are_not(self):
        with pytest.raises(ConfigError, match="the gate's allowance names phase 7, but there are 2 phases"):
            self.with_curriculum(phases=(Phase(30, size=5, penalty=0.0), Phase(30, size=5, penalty=0.1)), boost=None)

    def test_lanes_that_are_no_schools(self, tmp_path):
        config = small("fish-v40")
        lanes = replace(config.collection, num_lanes=51)
        self.refused(tmp_path, replace(config, collection=lanes), r"multiple of world\.fish \(25\), not 51")

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["--planned-updates", "61"], "last 60 updates together, but 61 are planned"),
            (["--planned-updates", "30"], "last 60 updates together, but 30 are planned"),
            (["--collection.num-lanes", "51"], "must be a multiple of world.fish (25), not 51"),
            (["--world.escape-boost-speed", "1.5"], "world.escape-boost-speed must be"),
            (["--checkpoints.best-metric", "evaluation/clear_rate"], "checkpoints.best-metric must be one of"),
        ],
    )
    def test_on_the_command_line(self, words, sentence, tmp_path, capsys):
        quick = ["--device", "cpu", "--collection.num-lanes", "50"]
        assert main(["train", "fish-v40", *quick, *words, "--runs", str(tmp_path / "runs")]) == 2
        said = capsys.readouterr().err
        assert sentence in said and said.count("\n") == 1 and not (tmp_path / "runs").exists()
