import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from respawn.contracts.records import Episode, EpisodeReport, EvaluationReport, Event, UpdateReport
from respawn.errors import ObserverError
from respawn.runs.rows import from_row, to_line, to_row

counts = st.integers(0, 2**60)
names = st.from_regex(r"[a-z]{1,5}/[a-z_0-9]{1,9}", fullmatch=True)
metrics = st.dictionaries(names, st.floats(allow_nan=False), max_size=5)
facts = st.one_of(st.text(), st.sampled_from(["nan", "inf"]), st.integers(), st.floats(allow_nan=False), st.booleans())
records = st.one_of(
    st.builds(UpdateReport, counts, counts, counts, counts, metrics),
    st.builds(EvaluationReport, counts, counts, metrics),
    st.builds(
        EpisodeReport, counts, st.builds(Episode, st.integers(0, 99), st.floats(allow_nan=False), counts, st.text())
    ),
    st.builds(
        Event,
        st.text(),
        st.text(st.characters()),  # lone surrogates included: a worker's last words may be anything
        st.sampled_from(["info", "warning", "error"]),
        st.dictionaries(st.text(), st.none() | facts),
    ),
)


@given(records)
def test_records_come_back_exactly(record):
    line = to_line(to_row(record))
    assert line.endswith(b"\n") and line.count(b"\n") == 1

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    again = from_row(type(record), json.loads(line, parse_constant=refuse))
    assert again == record
    assert repr(again) == repr(record)  # equality alone would let 0.0 stand for -0.0, and True for 1


def test_nan_comes_back():
    row = json.loads(to_line(to_row(UpdateReport(1, 2, 3, 4, {"loss/total": math.nan}))))
    assert row == {"row": "update", "update": 1, "decisions": 2, "frames": 3, "episodes": 4, "loss/total": "nan"}
    assert math.isnan(from_row(UpdateReport, row).metrics["loss/total"])
    event = from_row(Event, json.loads(to_line(to_row(Event("k", "m", facts={"x": math.nan, "y": "nan"})))))
    assert math.isnan(event.facts["x"]) and event.facts["y"] == "nan"


def test_numbers_of_other_libraries_are_taken():
    row = to_row(UpdateReport(np.int64(1), 2, 3, 4, {"loss/total": np.float32(0.1)}))
    assert from_row(UpdateReport, json.loads(to_line(row))).metrics["loss/total"] == float(np.float32(0.1))


def test_a_metric_may_not_be_called_like_a_counter():
    with pytest.raises(ObserverError, match="group/name"):
        to_row(EvaluationReport(1, 2, {"update": 3.0}))
