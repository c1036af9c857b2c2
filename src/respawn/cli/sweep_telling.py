"""What a sweep says while it works, and what it came to, for people."""

import errno
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, TextIO

import optuna

from respawn.cli.sweep_table import show_best, value_shown
from respawn.cli.wording import counted
from respawn.sweeps.definition import Definition
from respawn.sweeps.figures import short_name
from respawn.sweeps.finals import Final
from respawn.sweeps.option_words import option_words
from respawn.sweeps.places import StudyFolder
from respawn.sweeps.results import beside_the_file, best_settings, is_of_the_best
from respawn.sweeps.rows import TrialRow, best_first, trial_rows
from respawn.sweeps.score import SCORES
from respawn.sweeps.supervisor import LOST, STOPPING
from respawn.sweeps.trial_config import drawn_settings
from respawn.sweeps.worker import BEGUN, ENDED, JUDGED

_SECONDS_BETWEEN_EVALUATIONS = 20.0


@contextmanager
def heard_or_not(stream: TextIO) -> Iterator[None]:
    """While inside, a reader that leaves or a terminal that is closed ends nothing: what is still said goes nowhere.

    Only what prints belongs inside: of a file, the same errors mean something else.
    """
    try:
        yield
        stream.flush()  # here, where it is no mishap
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Teller:
    """Says what workers do, a line for each thing worth knowing."""

    def __init__(self, study: optuna.Study, definition: Definition, trials: int, *, to_stderr: bool) -> None:
        self._study = study
        self._definition = definition
        self._trials = trials
        self._to_stderr = to_stderr
        self._last_evaluation = monotonic()

    def say(self, line: str) -> None:
        """Print a line at once."""
        stream = sys.stderr if self._to_stderr else sys.stdout
        with heard_or_not(stream):
            print(line, file=stream, flush=True)

    def begin(self, name: str) -> None:
        """Say what is to be done, and how far it is."""
        definition, states = self._definition, [row.state for row in trial_rows(self._study, self._definition)]
        left, waiting = states.count("running"), states.count("waiting")
        done = len(states) - left - waiting
        decisions = definition.evaluations * definition.interval_decisions
        self.say(
            f"Study {name}: {definition.direction} {definition.objective}, {SCORES[definition.score].partition(',')[0]}"
        )
        self.say(f"over {counted(len(definition.space), 'setting')}, with {decisions:,} decisions a trial.")
        self._say_what_is_left_out(is_new=not states)
        if states:
            enqueued = f", {waiting} waiting" if waiting else ""
            self.say(f"{done} of {self._trials} trials are done, {left} begun{enqueued}; going on.")
        beyond = max((number + 1 for number, state in enumerate(states) if state == "waiting"), default=0)
        if beyond > self._trials:
            self.say(f"Those that wait beyond --trials {self._trials} are tried with --trials {beyond}.")

    def _say_what_is_left_out(self, *, is_new: bool) -> None:
        made, asked = self._definition.updates, self._definition.base.last_update
        every = self._definition.base.evaluation.every_updates
        if made < asked:
            more = f" With --updates {made + every} there is one more." if is_new else ""  # else it is another study
            self.say(
                f"Trials end after {made} of {asked} updates, with their last evaluation: one is made every {every},\n"
                f"and what came later would not count.{more}"
            )

    def hear(self, worker: int, kind: str, facts: Mapping[str, Any]) -> None:
        """Say what a worker told of, if it is worth a line."""
        if kind == BEGUN:
            verb = "goes on where it was left" if facts["is_taken_up"] else "begins"
            drawn = drawn_settings(self._definition.space, facts["drawn"])
            self.say(f"{self._trial(facts)} {verb}: {told_settings(drawn)}")
        elif kind == JUDGED:
            self._evaluation(facts)
        elif kind == ENDED:
            self._end(facts)
        elif kind == LOST:
            self.say(f"Worker {worker} is gone ({facts['how']}); another takes up what it left.")
        elif kind == STOPPING:
            self.say("Stopping: trials are saved where they are; once more: at once.")

    def _trial(self, facts: Mapping[str, Any]) -> str:
        return f"Trial {facts['number']:>3} ({facts['number'] + 1} of {self._trials})"

    def _evaluation(self, facts: Mapping[str, Any]) -> None:
        if monotonic() - self._last_evaluation < _SECONDS_BETWEEN_EVALUATIONS:
            return
        self._last_evaluation = monotonic()
        whole = self._definition.evaluations * self._definition.interval_decisions
        self.say(
            f"Trial {facts['number']:>3}: {facts['value']:.4g} after {facts['decisions']:,} of {whole:,} decisions"
        )

    def _end(self, facts: Mapping[str, Any]) -> None:
        if facts["state"] == "failed":
            self.say(f"{self._trial(facts)} failed: {facts['cause']}")
            return
        if facts["state"] == "stopped":
            self.say(f"{self._trial(facts)} is stopped and saved: run {facts['run']}")
            return
        ranked = best_first(trial_rows(self._study, self._definition), self._definition)
        best = f"; best {ranked[0].value:.4g} by trial {ranked[0].trial}" if ranked else ""
        verb = "complete:" if facts["state"] == "complete" else "pruned at"
        self.say(f"{self._trial(facts)} {verb} {facts['value']:.4g}{best}")


def told_settings(settings: Mapping[str, Any]) -> str:
    """Settings in one line, by the last part of their names."""
    return ", ".join(f"{short_name(name, settings)} {value_shown(value)}" for name, value in settings.items())


def tell_study(folder: StudyFolder, definition: Definition, rows: Sequence[TrialRow], finals: Sequence[Final]) -> None:
    """How many trials ended how, the best of them, and what to do with the best."""
    called = {"complete": "complete", "pruned": "pruned", "failed": "failed", "running": "begun", "waiting": "waiting"}
    counts = {word: sum(row.state == state for row in rows) for state, word in called.items()}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    ranked = best_first(rows, definition)
    more = _of_the_best(folder, definition, ranked[0], finals) if ranked else []
    with heard_or_not(sys.stdout):
        print(f"\nStudy {folder.name}: {counted(len(rows), 'trial')}, {said or 'none begun'}")
        if ranked:
            show_best(ranked, definition, finals)
        for line in more:
            print(line)


def _of_the_best(folder: StudyFolder, definition: Definition, best: TrialRow, finals: Sequence[Final]) -> list[str]:
    lines = []
    again = {final.number: final for final in finals}
    if best.trial in again:
        final = again[best.trial]
        lines.append(
            f"Trial {best.trial} was chosen for its {best.value:.4g}; on {final.episodes} seeds that nothing was "
            f"chosen by, it comes to {final.value:.4g}."
        )
    settings = best_settings(best, definition)
    words = option_words(settings)
    if words is not None:
        lines.append(f"Train its like:  respawn train {definition.preset} {words}")
    if folder.best.exists():
        if is_of_the_best(folder, definition, best):
            file = shlex.quote(str(folder.best))
            lines.append(f"The same:        respawn train --config {file}{beside_the_file(settings)}")
        else:
            lines.append(
                f"The same:        not {folder.best}, which is of another moment; 'respawn sweep show' with --redraw "
                "writes it anew"
            )
        lines.append(f"All trials:      {folder.trials}; figures: {folder.path}/*.png")
    return lines
