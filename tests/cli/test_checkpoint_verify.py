import gzip
import json
import shutil
from dataclasses import replace

import pytest

from respawn.checkpoints import verification
from respawn.checkpoints.manifest import file_sha256
from respawn.checkpoints.store import read_manifest
from respawn.runs.layout import RunFolder


def verified(respawn, *words):
    answer = respawn("checkpoint", "verify", *words, "--json")
    assert answer.err == ""
    return answer.exit_code, json.loads(answer.out)


def snapshot(folder):
    return {
        path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and ".lock" not in path.name
    }


@pytest.fixture
def pole(runs):
    """A run with two checkpoints: of update 0, and of update 3."""
    assert sorted(path.name for path in (runs / "pole/checkpoints").iterdir())[-1] == "u00000003"
    return runs / "pole"


def test_whole_checkpoints_are_whole_and_stay_untouched(respawn, pole):
    before = snapshot(pole)
    exit_code, told = verified(respawn, "pole", "--world")
    assert exit_code == 0 and told["whole"] and snapshot(pole) == before
    for each in told["checkpoints"]:
        sides = {side: each[side]["state"] for side in ("files", "parts", "rows", "settings", "world")}
        assert sides == dict.fromkeys(sides, "whole")
    assert told["resuming"] == {"path": "runs/pole/checkpoints/u00000003", "passed_over": [], "refusal": ""}


def test_people_see_a_table_on_eighty_columns(respawn, pole, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn("checkpoint", "verify", "pole", "--world")
    lines = [line.rstrip() for line in answer.out.splitlines()]
    assert answer.exit_code == 0 and answer.err == "" and max(map(len, lines)) <= 80
    assert "Both are whole." in lines
    assert lines[0].split() == ["checkpoint", "update", "size", "files", "parts", "rows", "settings", "world"]
    row = next(line for line in lines if line.startswith("u00000003"))
    assert row.split()[-5:] == ["whole", "whole", "whole", "same", "same"]
    assert lines[-1] == "'respawn resume pole' would go on from u00000003."
    assert "world" not in respawn("checkpoint", "verify", "pole").out


def test_in_a_narrow_window_names_are_whole(narrow, pole):
    words = ["checkpoint", "verify", "pole"]
    assert narrow(60, *words)[0].split() == ["checkpoint", "size", "files", "parts", "rows", "settings"]
    assert narrow(60, *words, "--world")[0].split() == ["checkpoint", "files", "parts", "rows", "settings", "world"]
    lines = narrow(40, *words)
    at = lines.index("u00000003")
    assert [line.split()[:2] for line in lines[at + 1 : at + 7]] == [
        ["update", "3"], ["size", lines[at + 2].split()[1]], ["files", "whole"], ["parts", "whole"], ["rows", "whole"],
        ["settings", "same"],
    ]  # fmt: skip


def test_damage_is_told_and_resuming_does_what_is_said(respawn, pole):
    shutil.copytree(pole / "checkpoints/u00000003", pole / "checkpoints/u00000004")
    (pole / "checkpoints/u00000004/clock.json").unlink()
    answer = respawn("checkpoint", "verify", "pole")
    assert answer.exit_code == 1 and "u00000004: clock.json is missing" in answer.out.splitlines()
    assert answer.out.splitlines()[-1] == "'respawn resume pole' would pass over u00000004 and go on from u00000003."
    assert verified(respawn, "pole")[1]["resuming"]["passed_over"] == ["u00000004"]
    assert respawn("resume", "pole", "--updates", "4").exit_code == 0
    events = (pole / "events.jsonl").read_text()
    assert "passed over a damaged checkpoint, u00000004" in events and "resumed from u00000003" in events
    after = respawn("checkpoint", "verify", "pole")
    assert after.exit_code == 0
    assert "Set aside as damaged when the run was resumed: damaged-u00000004" in after.out.splitlines()


def _rows(pole):
    (pole / "updates.jsonl").write_bytes(b"{}\n" + (pole / "updates.jsonl").read_bytes()[3:])


def _settings(pole):
    config = json.loads((pole / "config.json").read_text())
    (pole / "config.json").write_text(json.dumps(config | {"seed": 99}))


def _config_gone(pole):
    (pole / "config.json").write_text("{")


def _all_damaged(pole):
    for path in (pole / "checkpoints").iterdir():
        (path / "clock.json").unlink()


@pytest.mark.parametrize(
    ("damage", "side", "said"),
    [
        (_rows, "rows", "was changed"),
        (_settings, "settings", "it was made with other settings than config.json holds now"),
        (_config_gone, "settings", "config.json should hold JSON"),
        (_all_damaged, "files", "clock.json is missing"),
    ],
)
def test_what_resuming_would_refuse_is_refused(respawn, pole, damage, side, said):
    damage(pole)
    exit_code, told = verified(respawn, "pole")
    assert exit_code == 1 and told["resuming"]["path"] is None and told["resuming"]["refusal"]
    assert said in told["checkpoints"][-1][side]["problems"][0]
    assert "'respawn resume pole' would" in respawn("checkpoint", "verify", "pole").out
    assert respawn("resume", "pole", "--updates", "4").exit_code == 2


def test_one_checkpoint_can_be_named(respawn, pole, tmp_path):
    (pole / "checkpoints/u00000003/clock.json").unlink()
    others = [path.name for path in (pole / "checkpoints").iterdir() if path.name != "u00000003"]
    assert others and all(verified(respawn, f"pole@{name}")[0] == 0 for name in others)
    exit_code, told = verified(respawn, "runs/pole/checkpoints/u00000003")
    assert exit_code == 1 and told["resuming"] is None and len(told["checkpoints"]) == 1
    shutil.copytree(pole / "checkpoints" / others[0], tmp_path / "kept")
    exit_code, told = verified(respawn, str(tmp_path / "kept"))
    assert exit_code == 0 and told["run"] is None and told["checkpoints"][0]["rows"]["state"] == "unknown"
    assert "It is whole." in respawn("checkpoint", "verify", str(tmp_path / "kept")).out


def test_a_run_that_goes_on_is_said_to_go_on(respawn, pole):
    with RunFolder(pole).lock():
        answer = respawn("checkpoint", "verify", "pole")
    assert answer.exit_code == 0 and "respawn resume" not in answer.out
    assert "The run is going on: it makes new checkpoints, and deletes old ones." in answer.out.splitlines()


def test_checkpoints_that_a_run_deletes_meanwhile_are_no_damage(respawn, pole, monkeypatch):
    examine = verification.examine

    def deleting(path, around, tell):
        for other in (pole / "checkpoints").iterdir():
            if other.name != "u00000003":
                shutil.rmtree(other)
        return examine(path, around, tell)

    monkeypatch.setattr(verification, "examine", deleting)
    exit_code, told = verified(respawn, "pole")
    assert exit_code == 0 and [each["name"] for each in told["checkpoints"]] == ["u00000003"]


def test_where_all_are_deleted_meanwhile_the_new_ones_are_looked_at(respawn, pole, monkeypatch):
    examine, made = verification.examine, iter(range(4, 6))

    def replacing(path, around, tell):
        if (number := next(made, None)) is not None:
            shutil.move(path, pole / f"checkpoints/u{number:08d}")
        return examine(path, around, tell)

    for path in (pole / "checkpoints").iterdir():
        if path.name != "u00000003":
            shutil.rmtree(path)
    monkeypatch.setattr(verification, "examine", replacing)
    exit_code, told = verified(respawn, "pole")
    assert exit_code == 0 and [each["name"] for each in told["checkpoints"]] == ["u00000005"]
    made = iter(range(6, 99))
    answer = respawn("checkpoint", "verify", "pole")
    assert answer.exit_code == 2 and "was deleted while it was looked at" in answer.sentence


def test_a_world_that_cannot_be_made_here_is_told(respawn, pole):
    config = json.loads((pole / "config.json").read_text())
    config["world"]["imports"] = ["no_such_module_at_all"]
    (pole / "config.json").write_text(json.dumps(config))
    exit_code, told = verified(respawn, "pole", "--world")
    assert exit_code == 1 and told["checkpoints"][-1]["world"]["state"] == "unreadable"
    assert "the run cannot be put together here" in told["checkpoints"][-1]["world"]["problems"][0]


def test_what_cannot_be_verified_is_one_sentence(respawn, pole, tmp_path):
    shutil.copytree(pole / "checkpoints/u00000003", tmp_path / "kept")
    assert (
        "--world compares with the run" in respawn("checkpoint", "verify", str(tmp_path / "kept"), "--world").sentence
    )
    (tmp_path / "notes.json").write_text("{}")
    answer = respawn("checkpoint", "verify", "notes.json")
    assert answer.exit_code == 2 and "notes.json is a file of another kind" in answer.sentence
    (tmp_path / "empty").mkdir()
    assert "it has neither meta.json nor config.json" in respawn("checkpoint", "verify", "empty").sentence


def test_a_run_whose_description_is_damaged_can_still_be_verified(respawn, pole):
    (pole / "meta.json").write_text("{")
    exit_code, told = verified(respawn, "pole")
    assert exit_code == 0 and "meta.json should hold JSON" in told["resuming"]["refusal"]
    assert respawn("resume", "pole", "--updates", "4").exit_code == 2


def test_where_the_checkpoints_of_a_run_are_gone_no_resume_is_advised(respawn, pole):
    shutil.rmtree(pole / "checkpoints")
    answer = respawn("checkpoint", "verify", "pole")
    assert answer.exit_code == 2 and "put the checkpoints back, or start a new run" in answer.sentence
    assert respawn("resume", "pole", "--updates", "4").sentence == answer.sentence


@pytest.mark.parametrize("which", ["newest", "best"])
def test_a_damaged_checkpoint_that_is_passed_over_is_what_was_asked_for(respawn, pole, which):
    shutil.copytree(pole / "checkpoints/u00000003", pole / "checkpoints/u00000004")
    assert verified(respawn, f"pole@{which}")[0] == 0
    (pole / "checkpoints/u00000004/manifest.json").write_text("{")
    exit_code, told = verified(respawn, f"pole@{which}")
    assert exit_code == 1 and not told["whole"]
    assert [(each["name"], each["whole"]) for each in told["checkpoints"]] == [
        ("u00000003", True),
        ("u00000004", False),
    ]
    lines = respawn("checkpoint", "verify", f"pole@{which}").out.splitlines()
    assert lines[-1] == "1 of 2 damaged." and any(line.startswith("u00000004: manifest.json") for line in lines)


@pytest.mark.parametrize("stream", ["updates", "events"])
@pytest.mark.parametrize("damage", [b"no archive at all", b"", None])
def test_older_archives_are_read_too(respawn, pole, stream, damage):
    for number in (1, 2, 3):
        (pole / f"{stream}.jsonl.{number:06d}.gz").write_bytes(gzip.compress(b"{}\n"))
    observers = pole / "checkpoints/u00000003/observers.json"
    if stream == "updates":  # as if they had been set aside before the checkpoint was made
        known = json.loads(observers.read_text())
        known["updates"]["archive"] = 3
        observers.write_text(json.dumps(known))
        manifest = read_manifest(observers.parent)
        files = {**manifest.files, "observers.json": file_sha256(observers)}
        (observers.parent / "manifest.json").write_text(replace(manifest, files=files).to_json())
    (pole / f"{stream}.jsonl.000001.gz").unlink()  # the oldest are deleted on purpose
    exit_code, told = verified(respawn, "pole@3")
    assert exit_code == 0 and told["whole"] and told["archives"] == []
    (pole / f"{stream}.jsonl.000001.gz").write_bytes(gzip.compress(b"{}\n"))
    archive = pole / f"{stream}.jsonl.000002.gz"
    if damage is None:
        archive.unlink()
    else:
        archive.write_bytes(damage)
    exit_code, told = verified(respawn, "pole@3")
    assert exit_code == 1 and not told["whole"] and len(told["archives"]) == 1
    assert [each["whole"] for each in told["checkpoints"]] == [True]
    lines = respawn("checkpoint", "verify", "pole@3").out.splitlines()
    assert f"rows: {told['archives'][0]}" in lines
    assert lines[-1] == "It is whole, but not all rows of the run."
