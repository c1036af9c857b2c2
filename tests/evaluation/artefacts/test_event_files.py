import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from respawn.evaluation.artefacts.event_files import slug
from respawn.evaluation.artefacts.write import artefacts_folder, write_artefacts
from respawn.runs.reader import read_probes, read_updates


def scalars(path):
    accumulator = EventAccumulator(str(path), size_guidance={"scalars": 0})
    accumulator.Reload()
    return {tag: accumulator.Scalars(tag) for tag in accumulator.Tags()["scalars"]}


def test_curves_have_the_tags_of_the_reference(fish):
    write_artefacts(fish)
    write_artefacts(fish)  # a second time must not double the points
    found = scalars(artefacts_folder(fish) / "tb_logs" / "PPO_1")
    train = ("approx_kl", "clip_fraction", "entropy_loss", "explained_variance", "learning_rate", "loss", "value_loss")
    custom = (
        *("avg_survival_rate", "final_num_alive", "avg_num_alive", "first_death_step", "first_death_p10"),
        *("first_death_sample_size", "density_penalty_coef", "entropy_coef", "escape_boost_speed"),
        *("step_one_death_count", "step_one_death_ratio", "step_one_top_share", "step_one_ne_high_speed_share"),
        *("step_one_top_share_main", "step_one_ne_high_speed_share_ne", "prewarm_override_ratio"),
        *("prewarm_override_hits", "prewarm_override_episodes", "tail_stage_index", "tail_stage_progress"),
        *("tail_queue_remaining", "tail_queue_remaining_ratio", "tail_ne_reinjections", "tail_stage_warn_active"),
        *("tail_stage_warn_since", "tail_stage_warn_duration", "tail_forced_resets", "tail_forced_resets_total"),
        *("tail_prewarm_injections", "tail_prewarm_injections_total"),
    )
    expected = {f"train/{name}" for name in train} | {f"custom/{name}" for name in custom}
    assert expected | {"rollout/ep_len_mean", "rollout/ep_rew_mean", "time/fps"} <= set(found)
    updates = list(read_updates(fish))
    assert [point.step for point in found["train/approx_kl"]] == [update.decisions for update in updates]
    assert found["train/entropy_loss"][0].value == pytest.approx(-updates[0].metrics["policy/entropy"])
    assert len(found["custom/step_one_death_ratio"]) == 7


def test_probes_are_drawn_over_updates(fish):
    write_artefacts(fish)
    found = scalars(artefacts_folder(fish) / "tb_logs" / "multi_eval_probes")
    last = list(read_probes(fish))[-1]
    assert {f"multi_eval/{name}" for name in last.facts["summary"]} <= set(found)
    assert {f"multi_eval_death/{name}" for name in last.facts["death_stats"]} <= set(found)
    assert "multi_eval/step_one_ne_high_speed_share" in found
    assert [point.step for point in found["multi_eval_death/p10"]] == [8, 16, 24, 32, 40, 48, 56]
    assert found["multi_eval_death/p10"][-1].value == pytest.approx(last.facts["death_stats"]["p10"])


def test_kinds_become_parts_of_tags():
    assert slug("NE (fast)") == "ne__fast_"
