import json
import shutil

import pytest

from reference_files import metadata, payload, write_metadata, write_payload
from respawn.checkpoints.manifest import file_sha256
from respawn.checkpoints.store import find_newest, read_manifest, read_part, verify
from respawn.cli.main import main
from respawn.runs.sizes import size
from respawn.training import checkpoint_report


def inspected(respawn, *words):
    answer = respawn("checkpoint", "inspect", *words, "--json")
    assert answer.err == ""
    return answer.exit_code, json.loads(answer.out)


@pytest.fixture(scope="module")
def replaying(tmp_path_factory):
    """A runs folder with a run that replays, three updates old."""
    runs = tmp_path_factory.mktemp("replaying") / "runs"
    options = ["--collection.horizon-steps", "8", "--collection.num-lanes", "4", "--learner.replay.segments", "4"]
    quiet = ["--observers.no-tensorboard", "--observers.no-console", "--device", "cpu"]
    kept = ["--learner.replay.capacity-decisions", "160", "--evaluation.every-updates", "0"]
    words = ["train", "cartpole-vtrace", "--updates", "3", "--name", "again", "--runs", str(runs)]
    assert main([*words, *options, *kept, *quiet]) == 0
    return runs


def test_all_that_is_in_it_is_told(respawn, runs):
    exit_code, told = inspected(respawn, "pole")
    path = runs / "pole/checkpoints/u00000003"
    manifest = read_manifest(path)
    assert exit_code == 0 and told["run"] == "pole" and told["checkpoint"] == "u00000003" and told["damage"] is None
    assert told["manifest"]["updates"] == 3 and told["manifest"]["weights_sha256"] == manifest.weights_sha256
    weights = read_part(path, manifest, "weights")
    parts = {part["name"]: part for part in told["parts"]}
    assert told["parameters"] == sum(tensor.numel() for tensor in weights.values()) == parts["weights"]["numbers"]
    assert parts["weights"]["tensors"] == len(weights) and parts["weights"]["kinds"] == ["float32"]
    assert sum(part["bytes"] for part in told["parts"]) == sum((path / name).stat().st_size for name in manifest.files)
    assert told["rung"] == {"taken": [], "num_lanes": 2, "horizon_steps": 16} and told["replay"] is None
    assert all(need["is_met"] in (True, None) for need in told["resuming"])
    assert {need["what"] for need in told["resuming"]} == {
        *("program", "settings", "environment", "device", "threads", "rows", "same bits"),
    }


def test_people_see_it_on_eighty_columns(respawn, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn("checkpoint", "inspect", "pole", "--tensors")
    assert answer.exit_code == 0
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert lines[0] == "u00000003 of run pole" and max(map(len, lines)) <= 80
    assert any(line.startswith("update         3, after 96 decisions") for line in lines)
    assert any(line.startswith("memory ladder  no step down, 2 lanes of 16 steps") for line in lines)
    assert any(line.startswith("policy_head.linear.weight") and "[2, 64]" in line for line in lines)
    assert any(line.startswith("rows") and " yes " in line for line in lines)


def test_parts_and_tensors_can_be_asked_for(respawn, runs):
    _, told = inspected(respawn, "pole", "--parts", "weights", "clock", "--tensors")
    assert [part["name"] for part in told["parts"]] == ["clock", "weights"]
    tensors = {tensor["name"]: tensor for tensor in told["parts"][1]["tensor_list"]}
    assert tensors["policy_head.linear.weight"] == {
        "name": "policy_head.linear.weight",
        "kind": "float32",
        "shape": [2, 64],
        "not_finite": 0,
    }
    assert "tensor_list" not in inspected(respawn, "pole")[1]["parts"][0]
    answer = respawn("checkpoint", "inspect", "pole", "--parts", "wieghts")
    assert answer.exit_code == 2 and "has no part wieghts; it has cadence, clock, collector" in answer.sentence


def test_how_full_replay_was_is_told(respawn, replaying):
    _, told = inspected(respawn, "again", "--runs", str(replaying))
    assert told["replay"] == {"segments": 12, "capacity": 20, "steps": 8, "pushed_decisions": 96}
    out = respawn("checkpoint", "inspect", "again", "--runs", str(replaying)).out
    told_in_words = "12 of 20 segments (60.0 %) of 8 steps; 96 decisions were put in so far"
    assert told_in_words in " ".join(out.split())  # a terminal breaks it where it must


def test_numbers_that_are_not_finite_stand_out(respawn, runs):
    from dataclasses import replace

    from safetensors.torch import load_file, save_file

    path = runs / "pole/checkpoints/u00000003"
    tensors = load_file(path / "weights.safetensors")
    tensors["policy_head.linear.weight"][0, :3] = float("nan")
    save_file(tensors, path / "weights.safetensors")
    manifest = read_manifest(path)
    files = {**manifest.files, "weights.safetensors": file_sha256(path / "weights.safetensors")}
    (path / "manifest.json").write_text(replace(manifest, files=files).to_json())
    assert "3 in weights are not" in respawn("checkpoint", "inspect", "pole").out
    parts = {part["name"]: part["not_finite"] for part in inspected(respawn, "pole")[1]["parts"]}
    assert parts["weights"] == 3 and sum(parts.values()) == 3


def test_a_damaged_checkpoint_is_told_of_and_the_one_before_it_taken(respawn, runs):
    newest = runs / "pole/checkpoints/u00000003"
    shutil.copytree(newest, runs / "pole/checkpoints/u00000004")
    (runs / "pole/checkpoints/u00000004/learner.json").write_text("{")
    answer = respawn("checkpoint", "inspect", "pole")
    assert answer.exit_code == 0 and answer.out.splitlines()[1] == "u00000003 of run pole"
    assert answer.out.startswith("A damaged checkpoint was passed over: u00000004: learner.json does not match")
    exit_code, told = inspected(respawn, "pole@4")
    assert exit_code == 1 and told["damage"] == "learner.json does not match its SHA-256 in the manifest"
    problems = {part["name"]: part["problem"] for part in told["parts"] if part["problem"]}
    assert list(problems) == ["learner"] and problems["learner"].startswith("learner.json cannot be read")
    assert "learner.json cannot be read" in respawn("checkpoint", "inspect", "pole@4").out


@pytest.mark.parametrize("deleted", ["before it is read", "while it is read"])
def test_what_a_run_that_goes_on_deletes_meanwhile_is_looked_for_again(respawn, runs, monkeypatch, deleted):
    original, made = checkpoint_report.report_on, iter(range(4, 7))

    def replacing(path, *about):
        report = original(path, *about) if deleted == "while it is read" else None
        if (updates := next(made, None)) is not None:
            shutil.move(path, path.with_name(f"u{updates:08d}"))
        return report or original(path, *about)

    for path in (runs / "pole/checkpoints").iterdir():
        if path.name != "u00000003":
            shutil.rmtree(path)
    monkeypatch.setattr(checkpoint_report, "report_on", replacing)
    exit_code, told = inspected(respawn, "pole")
    assert exit_code == 0 and told["checkpoint"] == "u00000006" and told["damage"] is None
    assert all(need["is_met"] in (True, None) for need in told["resuming"])
    made = iter(range(7, 99))
    answer = respawn("checkpoint", "inspect", "pole")
    assert answer.exit_code == 2 and "was deleted while it was looked at, as a run that goes on does" in answer.sentence


def test_a_damaged_manifest_is_one_sentence(respawn, runs):
    for path in (runs / "pole/checkpoints").iterdir():
        (path / "manifest.json").write_text("{")
    answer = respawn("checkpoint", "inspect", "pole@3")
    assert answer.exit_code == 2
    assert "runs/pole/checkpoints/u00000003 cannot be looked into: manifest.json cannot be read" in answer.sentence
    assert "every checkpoint in runs/pole/checkpoints is damaged" in respawn("checkpoint", "inspect", "pole").sentence


def test_what_resuming_would_miss_is_told(respawn, runs):
    config = json.loads((runs / "pole/config.json").read_text())
    (runs / "pole/config.json").write_text(json.dumps(config | {"seed": 99, "device": "cuda:7"}))
    meta = json.loads((runs / "pole/meta.json").read_text())
    meta["machine"]["torch"] = "1.0"
    (runs / "pole/meta.json").write_text(json.dumps(meta))
    (runs / "pole/updates.jsonl").write_text("")
    exit_code, told = inspected(respawn, "pole")
    needs = {need["what"]: need for need in told["resuming"]}
    assert exit_code == 0 and {what for what, need in needs.items() if need["is_met"] is False} == {
        *("settings", "device", "rows", "same bits"),
    }
    assert "should hold at least" in needs["rows"]["said"] and "torch 1.0" in needs["same bits"]["said"]
    (runs / "pole/config.json").write_text("{")
    (runs / "pole/meta.json").unlink()
    told = inspected(respawn, "pole")[1]
    needs = {need["what"]: need["is_met"] for need in told["resuming"]}
    assert needs == {"program": True, "settings": False, "rows": False, "same bits": False}
    assert told["rung"] == {"taken": [], "num_lanes": None, "horizon_steps": None}


def test_a_copy_without_its_run_is_told_without_what_resuming_takes(respawn, runs, tmp_path):
    shutil.copytree(runs / "pole/checkpoints/u00000003", tmp_path / "kept")
    exit_code, told = inspected(respawn, str(tmp_path / "kept"))
    assert exit_code == 0 and told["run"] is None and told["resuming"] == []
    assert verify(tmp_path / "kept").updates == 3


def test_the_rung_of_the_memory_ladder_is_told(respawn, runs):
    """As a run leaves it that has stepped down: the checkpoint's own rung, not the run's of today."""
    from dataclasses import replace

    path = runs / "pole/checkpoints/u00000003"
    (path / "ladder.json").write_text(json.dumps({"taken": ["horizon"]}))
    manifest = read_manifest(path)
    files = {**manifest.files, "ladder.json": file_sha256(path / "ladder.json")}
    (path / "manifest.json").write_text(replace(manifest, files=files).to_json())
    assert inspected(respawn, "pole")[1]["rung"] == {"taken": ["horizon"], "num_lanes": 2, "horizon_steps": 8}
    assert "stepped down: horizon, 2 lanes of 8 steps" in respawn("checkpoint", "inspect", "pole").out
    assert find_newest(runs / "pole/checkpoints").path == path


def test_a_command_can_be_pasted_where_a_folder_has_a_space(respawn, tmp_path):
    folder = tmp_path / "trained models"
    folder.mkdir()
    told = inspected(respawn, str(write_metadata(folder / "a3c_world1_stage1_0002000.json", metadata())))[1]
    assert told["step"].endswith(f"; see: respawn checkpoint migrate '{folder}' --dry-run")


def test_metadata_of_the_other_system_is_said_to_be_what_it_is(respawn, tmp_path):
    path = write_metadata(tmp_path / "a3c_world1_stage1_0002000.json", metadata())
    exit_code, told = inspected(respawn, str(path))
    assert exit_code == 0 and told["update"] == 2000
    assert told["what"] == "metadata of a checkpoint of the A3C system that this one replaces, world 1-1"
    assert told["step"] == f"0, which it did not count; see: respawn checkpoint migrate {tmp_path} --dry-run"
    assert told["checkpoint"] == "no a3c_world1_stage1_0002000.pt beside it"
    assert main(["checkpoint", "migrate", str(tmp_path)]) == 0
    told = inspected(respawn, str(path))[1]
    assert told["step"] == "1,024,000" and told["reconstructed"]["method"] == "assumed_rollout_steps"
    assert inspected(respawn, f"{path}.bak")[1]["step"].startswith("0, which it did not count")
    out = respawn("checkpoint", "inspect", str(path)).out
    assert "num_envs 8" in out and "cannot be resumed or played here" in out


def test_a_checkpoint_of_the_other_system_is_asked_where_it_has_no_metadata(respawn, tmp_path):
    path = write_payload(tmp_path / "a3c_world3_stage2_latest.pt", payload(700))
    told = inspected(respawn, str(path))[1]
    assert told["update"] == 700 and told["model"] == "2 tensors, 20 numbers"
    assert told["what"].startswith("a checkpoint of the A3C system that this one replaces, world 3-2")
    write_metadata(path.with_suffix(".json"), metadata(kind="latest") | {"world": 3, "stage": 2})
    assert inspected(respawn, str(path))[1]["kind"] == "latest"


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a3c_world1_stage1_latest.json", b"{", "should hold JSON"),
        ("notes.json", b"[]", "is neither part of a checkpoint of ours nor metadata of the system"),
        ("film.mp4", b"\x00\x01", "is neither part of a checkpoint of ours nor metadata of the system"),
        ("model.pt", b"nothing", "has no metadata beside it, and says nothing itself: model.pt cannot be read"),
    ],
)
def test_other_files_are_one_sentence(respawn, tmp_path, name, content, match):
    (tmp_path / name).write_bytes(content)
    answer = respawn("checkpoint", "inspect", str(tmp_path / name))
    assert answer.exit_code == 2 and match in answer.sentence


def test_options_for_ours_are_refused_for_others(respawn, tmp_path):
    path = write_metadata(tmp_path / "a3c_world1_stage1_latest.json", metadata())
    answer = respawn("checkpoint", "inspect", str(path), "--tensors")
    assert answer.exit_code == 2 and "--parts and --tensors are for checkpoints of ours" in answer.sentence


@pytest.mark.parametrize(
    ("num_bytes", "said"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_600_000, "1.5 MiB"), (2**50, "1024.0 TiB")],
)
def test_sizes_are_short(num_bytes, said):
    assert size(num_bytes) == said
