import pytest
import torch

from bench_cases import Rising, measure_here
from respawn.testing import bench_fish
from respawn.testing.bench_fish import Batched, FishPlan, OneByOne, measure_fish


def test_every_living_fish_counts_once_a_step():
    before = torch.get_num_threads()
    ours, plain = Batched(5, 4, 1e-6, "cpu"), OneByOne(5, 1e-6)
    turn = ours.turn()
    ours.close()
    torch.set_num_threads(before)
    assert 0 < turn["decisions"] <= 20 and turn["others_cores"] >= 0
    assert plain.turn()["decisions"] == 5  # nobody is eaten in the first step
    plain.close()


@pytest.fixture
def here(monkeypatch):
    measure_here(monkeypatch)
    monkeypatch.setattr(bench_fish, "Batched", lambda fish, schools, seconds, device: Rising(fish * schools))
    monkeypatch.setattr(bench_fish, "OneByOne", lambda fish, seconds: Rising(2, "sentence" if fish == 7 else ""))


def test_both_are_measured_in_turn(here):
    kept = []
    measured = measure_fish(FishPlan((3, 7), schools=2, rounds=2), keep=kept.append)
    row = measured["sizes"]["3"]
    assert (row["fish"], row["schools"], row["fish_steps_per_second"]) == (3, 2, 4.5)
    assert row["spread"] == {"min": 3, "max": 6} and row["reference_fish_steps_per_second"] == 1.5
    assert row["ratio"] == 3 and row["ratio_of_rounds"] == {"min": 3, "max": 3}
    # The plain program fails in its second turn, and ours does not.
    assert "ratio" not in measured["sizes"]["7"] and measured["sizes"]["7"]["fish_steps_per_second"] == 10.5
    rows = [(row["of"], row["mode"], row["num_envs"], row["ratio"]) for row in measured["rows"]]
    assert rows == [
        *(("schools of 3", "respawn", 6, 3), ("schools of 3", "one by one", 3, 1)),
        *(("schools of 7", "respawn", 14, None), ("schools of 7", "one by one", 7, None)),
    ]
    assert measured["rows"][3]["error"] and kept[-1] == measured and list(kept[0]["sizes"]) == ["3"]


def test_without_the_plain_program_there_is_no_ratio(here):
    measured = measure_fish(FishPlan((3,), rounds=1, with_reference=False))
    assert [row["mode"] for row in measured["rows"]] == ["respawn"] and measured["sizes"]["3"]["schools"] == 53_333
