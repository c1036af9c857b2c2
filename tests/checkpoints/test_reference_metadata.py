import json

import pytest

from reference_files import metadata, write_metadata
from respawn.checkpoints.reference_metadata import read_metadata, with_step
from respawn.errors import CheckpointError

NAME = "a3c_world1_stage1_0002000.json"


def test_what_it_says_is_read(tmp_path):
    read = read_metadata(write_metadata(tmp_path / NAME, metadata(step=5, update=7, envs=3)))
    assert (read.step, read.update, read.num_envs, read.rollout_steps) == (5, 7, 3, 0)
    assert read.payload == tmp_path / "a3c_world1_stage1_0002000.pt" and not read.is_reconstructed


@pytest.mark.parametrize("name", ["a3c_world8_stage4_latest.json", "copy of it.json"])
def test_it_is_known_by_its_name_or_by_its_counters(tmp_path, name):
    assert read_metadata(write_metadata(tmp_path / name, metadata())).update == 2000


@pytest.mark.parametrize("content", ["[1]", "{", '{"save_state": 3}', '{"model": {}}', "nan", "\ufeff{"])
def test_other_json_is_nobodys_business(tmp_path, content):
    path = tmp_path / "notes.json"
    path.write_text(content, encoding="utf-8")
    assert read_metadata(path) is None
    assert read_metadata(tmp_path / "not_there.json") is None


def test_large_files_of_other_names_are_not_even_read(tmp_path, monkeypatch):
    path = write_metadata(tmp_path / "large.json", metadata())
    monkeypatch.setattr("respawn.checkpoints.reference_metadata._MOST_BYTES", 10)
    assert read_metadata(path) is None
    assert read_metadata(path.rename(tmp_path / NAME)) is not None


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "should hold JSON"),
        (b'{"save_st', "should hold JSON"),
        (b"\xff\xfe{}", "should hold JSON"),
        (b"[" * 100_000, "should hold JSON"),
        (b"[1]", "should hold a JSON object, and holds a list"),
        (b"null", "and holds null"),
    ],
)
def test_what_should_be_metadata_by_its_name_and_is_none_is_an_error(tmp_path, content, match):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(CheckpointError, match=match):
        read_metadata(tmp_path / NAME)


@pytest.mark.parametrize("odd", ["2000", -1, 1.5, True, [2000]])
def test_a_counter_that_is_no_count_is_an_error(tmp_path, odd):
    read = read_metadata(write_metadata(tmp_path / NAME, metadata(update=odd)))
    with pytest.raises(CheckpointError, match="global_update should be a whole number from 0 on"):
        _ = read.update


def test_counters_may_stand_outside_and_be_absent(tmp_path):
    outside = read_metadata(write_metadata(tmp_path / NAME, {"global_step": 4.0, "global_update": None, "num_envs": 2}))
    assert (outside.step, outside.update, outside.num_envs) == (4, 0, 2)
    assert json.loads(with_step(outside, 9, {}))["global_step"] == 9


@pytest.mark.parametrize(
    "said",
    [
        {"rollout": {"num_steps": 32}},
        {"rollout_steps": 32},
        {"config": {"num_steps": 32}},
        {"config": {"rollout": {"rollout_steps": 32}}},
        {"training_config": {"rollout_steps": 32}},
    ],
)
def test_steps_of_a_rollout_are_found_wherever_they_may_stand(tmp_path, said):
    read = read_metadata(write_metadata(tmp_path / NAME, {**metadata(), **said}))
    assert read.rollout_steps == 32


@pytest.mark.parametrize("layout", [{"indent": 2}, {"indent": None}, {"ensure_ascii": False}])
def test_all_else_stays_as_it_was_and_as_it_was_laid_out(tmp_path, layout):
    data = {**metadata(), "video_dir": "视频 \u00e9", "odd": float("inf"), "of_the_future": [1, {"a": None}]}
    path = write_metadata(tmp_path / NAME, data, **layout)
    data["save_state"]["global_step"] = 7
    data["reconstructed_step_source"] = {"method": "by hand"}
    expected = json.dumps(data, **{"indent": 2, **layout}).encode()
    assert with_step(read_metadata(path), 7, {"method": "by hand"}) == expected
    path.write_bytes(path.read_bytes() + b"\n")
    assert with_step(read_metadata(path), 7, {"method": "by hand"}) == expected + b"\n"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_metadata(path).update == 2000
    assert with_step(read_metadata(path), 7, {"method": "by hand"}) == b"\xef\xbb\xbf" + expected + b"\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            b'{\n\t"save_state": {\n\t\t"global_step": 0\n\t},\n\t"x": 1.50\n}\n',
            b'{\n\t"save_state": {\n\t\t"global_step": 7\n\t},\n\t"x": 1.50,\n\t'
            b'"reconstructed_step_source": {\n\t\t"by": "hand"\n\t}\n}\n',
        ),
        (
            b'{"save_state":{"global_step":0,"global_update":2},"x":1e5}',
            b'{"save_state":{"global_step":7,"global_update":2},"x":1e5,"reconstructed_step_source":{"by":"hand"}}',
        ),
        (
            b'{ "save_state" : {}, "reconstructed_step_source" : null }',
            b'{ "save_state" : {"global_step": 7}, "reconstructed_step_source" : {"by" : "hand"} }',
        ),
        (
            b'\xef\xbb\xbf{\r\n  "save_state": null\r\n}\r\n',
            b'\xef\xbb\xbf{\r\n  "save_state": null,\r\n  "global_step": 7,\r\n'
            b'  "reconstructed_step_source": {\r\n    "by": "hand"\r\n  }\r\n}\r\n',
        ),
    ],
)
def test_not_a_byte_changes_but_for_the_step_and_where_it_came_from(tmp_path, before, after):
    (tmp_path / NAME).write_bytes(before)
    assert with_step(read_metadata(tmp_path / NAME), 7, {"by": "hand"}) == after
