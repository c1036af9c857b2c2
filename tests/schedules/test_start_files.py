import json
import math

import pytest

from respawn.errors import ConfigError
from respawn.schedules.start_clusters import StartFilter, filter_starts
from respawn.schedules.start_files import (
    HardStart,
    read_start_file,
    scaled,
    shipped_start_files,
    velocity_features,
    write_start_file,
)


def written(tmp_path, data):
    path = tmp_path / "starts.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return str(path)


def speeds(name):
    return [start.features["speed"] for start in read_start_file(name)]


def headings(name):
    return [start.features["heading_deg"] for start in read_start_file(name)]


def test_the_files_that_come_with_the_package():
    assert shipped_start_files() == ("v32-stage1", "v32-stage2", "v33-stage3", "v34-ne")


def test_the_north_east_grid():
    velocities = [start.state["predator_velocity"] for start in read_start_file("v34-ne")]
    grid = [
        (speed * math.cos(math.radians(angle)), speed * math.sin(math.radians(angle)))
        for angle in (60, 75, 90)
        for speed in (1.6, 2.0, 2.4, 2.8)
    ]
    wanted = [*grid, (0.8291, 1.7638), (0.6967, 2.5076)]
    assert len(velocities) == len(wanted) == 14
    for velocity, expected in zip(velocities, wanted, strict=True):
        assert velocity == pytest.approx(expected, abs=1e-8)
    assert sum(speeds("v34-ne")) / 14 == pytest.approx(2.21, abs=0.005)


@pytest.mark.parametrize(("name", "mean"), [("v32-stage1", 0.88), ("v32-stage2", 0.92)])
def test_the_five_vectors_in_their_mixes(name, mean):
    five = {(-0.0540, 0.1840), (0.6812, 1.6250), (0.2959, 0.7264), (0.1354, 0.8470), (0.4670, 1.5266)}
    assert {tuple(start.state["predator_velocity"]) for start in read_start_file(name)} == five
    assert sum(speeds(name)) / len(speeds(name)) == pytest.approx(mean, abs=1e-4)
    assert (min(headings(name)), max(headings(name))) == pytest.approx((67, 106), abs=0.5)


def test_the_procedural_mix():
    found, angles = speeds("v33-stage3"), headings("v33-stage3")
    assert len(found) == 256
    assert (min(found), sum(found) / 256, max(found)) == pytest.approx((0.15, 0.78, 1.40), abs=1e-4)
    assert min(angles) >= 200 and max(angles) <= 260


def test_velocities_come_before_clusters_and_states(tmp_path):
    data = {
        "starts": [{"kind": " NE ", "label": "x", "state": {"fish": [[1, 2], [3, 4]]}, "features": {"speed": 2}}],
        "summary": {"clusters": [{"count": 3, "sample": {"predator_velocity": [0, 2]}}, {"count": 1}]},
        "velocities": [[3.0, 4.0]],
    }
    first, second, third = read_start_file(written(tmp_path, data))
    assert first == HardStart({"predator_velocity": [3.0, 4.0]}, velocity_features([3.0, 4.0]))
    assert first.features["speed"] == 5.0 and first.features["heading_deg"] == pytest.approx(53.13, abs=0.01)
    assert second.state == {"predator_velocity": [0, 2]} and second.features["heading_deg"] == 90.0
    assert third == HardStart({"fish": [[1, 2], [3, 4]]}, {"speed": 2.0}, "ne", "x")


def test_a_state_with_a_velocity_has_its_features(tmp_path):
    state = {"predator_velocity": [-1.0, 0.0], "predator_position": [0.0, 1.0]}
    (start,) = read_start_file(written(tmp_path, {"starts": [{"state": state, "features": {"difficulty": 3}}]}))
    assert start.features == {"speed": 1.0, "heading_deg": 180.0, "difficulty": 3.0}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("{", "should hold JSON, but"),
        ("[]", r"should hold a JSON object, not \[\]; correct it"),
        ({}, "holds no starts: expected velocities, starts or summary.clusters"),
        ({"velocities": []}, "holds no starts"),
        ({"velocities": 3}, "velocities must be a list, not 3"),
        ({"velocities": [[1, 2], [1]]}, r"velocities\[1\] must be a pair of numbers, not \[1\]"),
        ({"velocities": [["a", 1]]}, r"velocities\[0\].state.predator_velocity\[0\] must be a number, not 'a'"),
        ({"velocities": [[1, True]]}, r"predator_velocity\[1\] must be a number, not True"),
        ('{"velocities": [[1, NaN]]}', r"velocities\[0\].state.predator_velocity\[1\] must be finite, not nan"),
        ('{"velocities": [[Infinity, 0]]}', "must be finite, not inf"),
        ({"summary": 3}, "summary must be an object, not 3"),
        ({"summary": {"clusters": 3}}, "clusters must be a list, not 3"),
        ({"summary": {"clusters": [{"sample": {"predator_velocity": 3}}]}}, r"summary.clusters\[0\].sample.*pair"),
        ({"starts": [3]}, r"starts\[0\] must be an object with a state, not 3"),
        ({"starts": [{}]}, r"starts\[0\].state must be an object with numbers in it, not nothing"),
        ({"starts": [{"state": {"a": "b"}}]}, r"starts\[0\].state.a must be a number, not 'b'"),
        ({"starts": [{"state": {"a": [[1, None]]}}]}, r"starts\[0\].state.a\[0\]\[1\] must be a number, not nothing"),
        ({"starts": [{"state": {"a": 1}, "features": [1]}]}, r"starts\[0\].features must be an object"),
        ({"starts": [{"state": {"a": 1}, "features": {"x": "y"}}]}, r"starts\[0\].features.x must be a number"),
        ({"starts": [{"state": {"a": 1}, "kind": 3}]}, r"starts\[0\] must have words for its kind"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence_that_names_the_entry(tmp_path, data, complaint):
    name = written(tmp_path, data)
    with pytest.raises(ConfigError, match=complaint) as caught:
        read_start_file(name)
    assert name in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_is_met_with_those_there_are(tmp_path):
    with pytest.raises(ConfigError, match=r"no file of starts 'v34-new'; give a path, or one of v32-stage1, .*v34-ne"):
        read_start_file("v34-new")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_start_file(str(tmp_path))


def test_what_is_written_is_read_again_with_where_it_came_from(tmp_path):
    path = tmp_path / "filtered.json"
    filtered = filter_starts(read_start_file("v32-stage1"), StartFilter(duplicate_tolerance=0.0))
    write_start_file(
        path,
        filtered.kept,
        source="v32-stage1",
        note="no duplicates",
        report=filtered.report,
        selection={"min_speed": 0.1},
        generated_at="2026-01-01T00:00:00+00:00",
    )
    assert read_start_file(str(path)) == filtered.kept
    data = json.loads(path.read_text())
    assert data["generated_at"] == "2026-01-01T00:00:00+00:00"
    assert (data["source"], data["note"], data["selection"]) == ("v32-stage1", "no duplicates", {"min_speed": 0.1})
    assert (data["before"]["count"], data["after"]["count"], len(data["velocities"])) == (64, 5, 5)
    assert data["clusters"] == data["after"]["clusters"]


def test_whole_states_are_written_and_read_again(tmp_path):
    path = tmp_path / "states.json"
    starts = (HardStart({"fish": [[1.0, 2.0]]}, {"speed": 1.0}, "ne", "worst"), HardStart({"fish": [[3.0, 4.0]]}))
    write_start_file(path, starts, source="here", note="")
    assert read_start_file(str(path)) == starts
    assert json.loads(path.read_text())["generated_at"].endswith("+00:00")
    with pytest.raises(ConfigError, match="would hold no starts"):
        write_start_file(path, (), source="here", note="")


def test_scaling_is_of_velocities_alone():
    start = HardStart({"predator_velocity": [3.0, 4.0], "at": [1.0, 1.0]}, velocity_features([3.0, 4.0]), "ne")
    slower = scaled(start, 0.8)
    assert slower.state == {"predator_velocity": pytest.approx([2.4, 3.2]), "at": [1.0, 1.0]}
    assert slower.features["speed"] == pytest.approx(4.0) and slower.kind == "ne"
    still = HardStart({"at": [1.0, 1.0]})
    assert scaled(still, 0.8) == still and scaled(start, 1.0) == start
