import json
from pathlib import Path, PurePosixPath

import pytest

from reference_files import metadata, payload, write_metadata, write_payload


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder as that system left it, with each kind of file there may be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    root = tmp_path / "trained_models"
    write_metadata(root / "run01/a3c_world1_stage1_0002000.json", metadata())
    write_metadata(root / "run01/a3c_world1_stage1_0004000.json", metadata(step=2_048_512, update=4000))
    write_metadata(root / "run01/a3c_world1_stage1_latest.json", metadata(update=8000, kind="latest"))
    write_metadata(root / "run_tput/a3c_world1_stage1_0003000.json", metadata(update=0))
    write_payload(root / "run_tput/a3c_world1_stage1_0003000.pt", payload(3000, rollout={"num_steps": 128}))
    write_metadata(root / "exp/a3c_world1_stage2_0000500.json", metadata(update=0))
    write_payload(root / "exp/a3c_world1_stage2_0000500.pt", payload() | {"config": PurePosixPath("x")})
    write_metadata(root / "notes.json", [1])
    return Path("trained_models")


def outcomes(respawn, *words):
    answer = respawn("checkpoint", "migrate", *words, "--json")
    return answer.exit_code, json.loads(answer.out)


def test_a_folder_is_mended_once(respawn, models):
    exit_code, told = outcomes(respawn, str(models), "--dry-run")
    assert exit_code == 0 and told["passed_over"] == 1 and told["dry_run"]
    assert told["outcomes"] == {"would_update": 3, "no_update_info": 1, "already_has_step": 1}
    exit_code, told = outcomes(respawn, str(models))
    assert exit_code == 0 and told["outcomes"] == {"updated": 3, "no_update_info": 1, "already_has_step": 1}
    steps = {each["path"].partition("/")[2]: each["step_after"] for each in told["files"] if each["step_after"]}
    assert steps == {
        "run01/a3c_world1_stage1_0002000.json": 2000 * 8 * 64,
        "run01/a3c_world1_stage1_latest.json": 8000 * 8 * 64,
        "run_tput/a3c_world1_stage1_0003000.json": 3000 * 8 * 128,
    }
    assert len(list(models.rglob("*.bak"))) == 3
    exit_code, told = outcomes(respawn, str(models))
    assert exit_code == 0
    assert told["outcomes"] == {"already_reconstructed": 3, "no_update_info": 1, "already_has_step": 1}


def test_options_do_what_they_say(respawn, models):
    assert outcomes(respawn, str(models), "--rollout-steps", "32", "--no-backup")[1]["outcomes"]["updated"] == 3
    assert list(models.rglob("*.bak")) == []
    read = json.loads((models / "run01/a3c_world1_stage1_0002000.json").read_text())
    assert read["save_state"]["global_step"] == 2000 * 8 * 32
    told = outcomes(respawn, str(models), "--update-if-lower")[1]
    # Those of 32 steps are raised; 2,048,512 is more than 4000 updates of 8 × 64 make; the other's steps are known.
    assert told["outcomes"] == {"updated": 2, "current_step>=computed": 2, "no_update_info": 1}


def test_people_see_what_was_done_on_eighty_columns(respawn, models):
    lines = [line.rstrip() for line in respawn("checkpoint", "migrate", str(models), "--dry-run").out.splitlines()]
    table = lines[: lines.index("")]
    assert max(map(len, table)) <= 80 and "run01/" in table
    assert any(line.split() == ["a3c_world1_stage1_0002000.json", "would_update", "0", "1,024,000"] for line in table)
    assert any("a3c_world1_stage2_0000500.pt holds a pathlib.PurePosixPath" in line for line in lines)
    assert "would_update: 3 (their step would be written without --dry-run)" in lines
    assert lines[-1].startswith("5 metadata files; 1 other JSON file was passed over. In 2 of them rollouts of 64")
    assert lines[-1].endswith("Nothing was changed: a dry run.")
    assert respawn("checkpoint", "migrate", str(models)).out.rstrip().endswith("is beside them as NAME.json.bak.")


def test_a_file_that_cannot_be_read_is_named_and_the_exit_code_says_so(respawn, models):
    (models / "run01/a3c_world1_stage1_0005000.json").write_text('{"save_st')
    answer = respawn("checkpoint", "migrate", str(models))
    assert answer.exit_code == 1 and answer.err == ""
    assert "run01/a3c_world1_stage1_0005000.json: it should hold JSON" in answer.out
    assert "unreadable: 1 (could not be read)" in answer.out.splitlines()


def test_a_folder_without_any_is_said_to_have_none(respawn, tmp_path):
    (tmp_path / "notes.json").write_text("[]")
    answer = respawn("checkpoint", "migrate", str(tmp_path))
    assert answer.exit_code == 0
    assert answer.out == f"There is no such metadata in {tmp_path}; 1 other JSON file was passed over.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "wants a folder, and nowhere does not exist"),
        (("trained_models/notes.json",), "wants a folder, and trained_models/notes.json is a file"),
        (("trained_models", "--rollout-steps", "0"), "--rollout-steps must be at least 1, not 0"),
        (("trained_models", "--rollout-steps", "many"), "--rollout-steps"),
        (("trained_models", "--dryrun"), "did you mean --dry-run?"),
        ((), "FOLDER"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(respawn, models, words, said):
    answer = respawn("checkpoint", "migrate", *words)
    assert answer.exit_code == 2 and said in answer.sentence
    assert list(models.rglob("*.bak")) == []
