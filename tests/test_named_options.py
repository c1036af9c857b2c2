"""Options that hints and pages tell people to use are there."""

import re

from named_options import ROOT, options_in, settings, train_options, verb_options, wrong_options
from respawn.observers.hint_rules import RULES


def test_what_is_wrong_is_found():
    assert wrong_options("`--learner.clip 0.1`, `respawn evaluate RUN --sampled`") == []
    assert wrong_options("`--learner.clipp`, `respawn evaluate RUN --learner.clip`") == [
        "--learner.clipp",
        "--learner.clip",
    ]
    assert "--trials" in verb_options("doctor") and "--runs" in train_options()
    assert {"faults.ladder", "schedules.adaptive.step", "world.env_id"} <= settings()


def test_every_option_that_a_hint_names_is_there():
    for rule in RULES:
        quoted = re.sub(r"(--[a-z0-9_.-]+[a-z0-9_…-])", r"`\1`", re.sub(r"'respawn [^']*'", "", rule.sentence))
        assert wrong_options(quoted) == [], rule.name
        assert wrong_options(rule.sentence) == [], rule.name
        for setting in re.findall(r"(?<![-\w.])((?:checkpoints|observers|faults)\.[a-z_.]+[a-z_])", rule.sentence):
            assert setting in settings(), rule.name


def test_every_option_on_the_page_on_hints_is_there():
    page = (ROOT / "docs" / "hints.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    assert len(options_in(text)) > 40
    assert wrong_options(text) == []
