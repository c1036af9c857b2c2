"""Every hint is given where it should be, and not where it nearly should."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hint_case import BY_PPO, ON_GPU, ON_TWO_CORES, OVERLAPPED, WITH_ACTORS, WITH_REPLAY, Case, jump, settling
from hint_cases import CASES
from hint_streams import FACTS, Stream, hints_of, names_of

from respawn.errors import ConfigError
from respawn.observers.hint_rules import RULES, rule_names, rules_without
from respawn.observers.hint_view import JUDGED_BY, HintFacts


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{number}" for number, case in enumerate(CASES)])
def test_a_hint_is_given_where_it_should_be_and_not_nearly_there(case: Case) -> None:
    assert names_of(hints_of(case.speaks, case.facts)) == [case.rule]
    assert names_of(hints_of(case.silent, case.silent_facts or case.facts)) == []


def test_every_hint_has_its_case() -> None:
    assert {case.rule for case in CASES} == set(rule_names())
    assert len(set(rule_names())) == len(RULES)


@pytest.mark.parametrize("facts", [FACTS, ON_GPU, WITH_REPLAY, WITH_ACTORS, OVERLAPPED, ON_TWO_CORES, BY_PPO])
def test_a_healthy_run_hears_nothing(facts: HintFacts) -> None:
    assert names_of(hints_of(Stream(updates=500), facts)) == []


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{number}" for number, case in enumerate(CASES)])
def test_names_that_are_missing_and_numbers_that_are_none_harm_nothing(case: Case) -> None:
    for name in (*case.speaks.metrics, *case.speaks.resources):
        assert names_of(hints_of(replace(case.speaks, lacking=frozenset({name})), case.facts)) in ([], [case.rule])
    broken = {name: float("nan") for name in case.speaks.metrics}
    lost_numbers = {name: float("inf") for name in case.speaks.resources}
    told = names_of(hints_of(replace(case.speaks, metrics=broken, resources=lost_numbers), case.facts))
    assert told in ([], [case.rule])
    everything = frozenset(name for record in case.speaks.records() for name in getattr(record, "metrics", {}))
    told = names_of(hints_of(replace(case.speaks, lacking=everything), case.facts))
    assert set(told) <= {"processes-replaced", "fell-back", "no-episode-ended"}


@pytest.mark.parametrize("at", range(5, 400, 15))
def test_what_is_taken_once_is_no_growth_whenever_that_is(at: int) -> None:
    step = Stream(updates=400, resources={"resource/process_rss_mib": lambda x: settling(x) + jump(at, 0, 500)(x)})
    assert names_of(hints_of(step, FACTS)) == []


def test_a_hint_ends_in_something_to_do() -> None:
    for rule in RULES:
        assert "--" in rule.sentence or "respawn " in rule.sentence or "resources.jsonl" in rule.sentence, rule.name
        assert not rule.sentence.endswith("."), rule.name


@pytest.mark.parametrize(
    ("best_kept_by", "said"),
    [
        (
            JUDGED_BY,
            "the best is kept as checkpoint 'best'; begin again from it (--weights-from RUN@best)",
        ),
        ("evaluation/cleared", "checkpoint 'best' is that of evaluation/cleared; where that is good, begin again"),
        ("", "checkpoints.keep_best is 0, so that it is kept by chance alone; begin again with"),
    ],
)
def test_who_fell_back_is_promised_no_checkpoint_that_there_is_not(best_kept_by: str, said: str) -> None:
    case = next(case for case in CASES if case.rule == "fell-back")
    (hint,) = hints_of(case.speaks, replace(case.facts, best_kept_by=best_kept_by))
    assert said in hint.message and ("@best" in hint.message) == (best_kept_by != "")


@pytest.mark.parametrize(("free_gib", "said"), [(3 / 1024, "3.0 MiB are left"), (0.5, "512.0 MiB"), (4.0, "4.0 GiB")])
def test_what_is_left_on_the_smallest_disk_is_a_number_that_says_something(free_gib: float, said: str) -> None:
    room = {"resource/disk_free_gib": free_gib, "resource/disk_free_share": 0.01}
    (hint,) = hints_of(Stream(resources=room), FACTS)
    assert hint.message.startswith(said) and hint.facts["free_gib"] == free_gib


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    assert [rule.name for rule in rules_without(["no-progress"])] == list(rule_names()[1:])
    with pytest.raises(ConfigError, match=r"observers.hints-off takes names of hints \(no-progress, .*, not 'gpu'"):
        rules_without(["gpu"])


def test_the_page_on_hints_lists_all_of_them_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hints.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(rule_names())
