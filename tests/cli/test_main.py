import os
import subprocess
import sys

import pytest

from respawn import __version__
from respawn.cli import doctor
from respawn.cli.main import SPINS, VERBS, main


def test_without_a_verb_the_usage_is_shown(respawn):
    answer = respawn()
    assert answer.exit_code == 2 and all(verb in answer.out for verb in VERBS)
    assert respawn("--help").exit_code == 0
    assert "bench overlap, engine, world, train, replay" in answer.out and "doctor engine, rom, worlds" in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    assert respawn("--version").out == f"respawn {__version__}\n"


def test_an_unknown_verb_is_met_with_a_close_one(respawn):
    answer = respawn("trian")
    assert answer.exit_code == 2
    assert answer.sentence.startswith("there is no verb 'trian'; did you mean train? The verbs are: demo, train")
    assert "did you mean" not in respawn("sing").sentence


@pytest.mark.parametrize(
    ("raised", "exit_code", "words"),
    [(KeyboardInterrupt(), 130, "interrupted"), (OSError(28, "No space left on device"), 1, "No space left on device")],
)
def test_what_ends_a_command_becomes_a_sentence(respawn, monkeypatch, raised, exit_code, words):
    def end(_):
        raise raised

    monkeypatch.setattr(doctor, "main", end)
    answer = respawn("doctor")
    assert answer.exit_code == exit_code and words in answer.sentence


def test_a_mistake_of_ours_is_shown_whole(respawn, monkeypatch):
    monkeypatch.setattr(doctor, "main", lambda words: words[0])
    answer = respawn("doctor")
    assert answer.exit_code == 1 and "Traceback" in answer.err
    assert answer.err.splitlines()[-1].startswith("respawn: IndexError is no answer to expect")


def test_a_reader_that_leaves_is_no_mishap(runs):
    # A pipe whose reading end is closed before anything is written, as with a very quick `head`.
    for words in (["runs", "list"], ["runs", "show", "pole", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([sys.executable, "-m", "respawn", *words], stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, b""), words


def closed(streams, *words):
    """The command line in a process of its own that begins without some of its streams."""
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "respawn", *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("words", [["--help"], ["runs", "list"], ["runs", "show", "pole"], ["doctor", "--help"]])
def test_closed_streams_are_no_mishap(runs, words):
    silent = closed(">&-", *words)
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    heard = closed("2>&-", *words)
    assert heard.returncode == 0 and heard.stdout != "" and "Traceback" not in heard.stdout
    assert closed("<&- >&- 2>&-", *words).returncode == 0


def test_a_mistake_keeps_its_exit_code_and_off_stdout_when_stderr_is_closed():
    done = closed("2>&-", "sing")
    assert (done.returncode, done.stdout) == (2, "")
    done = closed(">&-", "sing")
    assert done.returncode == 2 and done.stderr.startswith("respawn: there is no verb 'sing'")


@pytest.mark.parametrize(
    "words",
    [
        ["train"],
        ["resume"],
        ["demo"],
        ["evaluate"],
        ["play"],
        ["video"],
        ["map"],
        ["plot"],
        ["runs"],
        ["runs", "list"],
        ["runs", "show"],
        ["runs", "inspect"],
        ["runs", "summary"],
        ["runs", "compare"],
        ["runs", "export"],
        ["movie"],
        ["bench"],
        ["bench", "overlap"],
        ["bench", "engine"],
        ["doctor"],
        ["doctor", "engine"],
        ["doctor", "rom"],
        ["doctor", "worlds"],
        ["train", "cartpole-ppo"],
    ],
)
def test_help_reads_well_on_eighty_columns(respawn, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    answer = respawn(*words, "--help")
    assert answer.exit_code == 0 and answer.out.startswith(f"usage: respawn {words[0]}") and answer.err == ""
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    for noise in ("None", "{True", "(default: )", "STR ["):
        assert noise not in answer.out
    lines = [line.strip("│ ") for line in answer.out.splitlines()]
    assert not [line for line in lines if line in ("a", "an", "the")]  # what a break inside a help text leaves alone


def test_main_reads_the_command_line_by_itself(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["respawn", "--version"])
    assert main() == 0 and capsys.readouterr().out.startswith("respawn ")


def test_ctrl_c_after_the_end_changes_nothing():
    late = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    leave = "import sys; sys.argv = ['respawn', 'sing']; from respawn.cli.main import main_and_leave; main_and_leave()"
    done = subprocess.run([sys.executable, "-c", f"{late}; {leave}"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("respawn: there is no verb 'sing'")
    assert "KeyboardInterrupt" not in done.stderr


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_are_told_as_ctrl_c_is(name, code):
    killed = f"from respawn.cli import doctor; doctor.main = lambda words: os.kill(os.getpid(), signal.{name})"
    leave = "sys.argv = ['respawn', 'doctor']; from respawn.cli.main import main_and_leave; main_and_leave()"
    program = f"import os, signal, sys; {killed}; {leave}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "respawn: interrupted\n")


def test_a_terminal_that_is_closed_changes_no_exit_code(monkeypatch):
    class Closed:
        def write(self, text):
            raise OSError(5, "Input/output error")

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stderr", Closed())
    assert main(["sing"]) == 2


def test_nohup_is_heard_by_every_verb():
    killed = "from respawn.cli import doctor; doctor.main = lambda words: os.kill(os.getpid(), signal.SIGHUP) or 0"
    leave = "sys.argv = ['respawn', 'doctor']; from respawn.cli.main import main_and_leave; main_and_leave()"
    program = f"import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); {killed}; {leave}"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_places_that_may_not_be_read_are_no_failure(respawn, monkeypatch):
    def refuse(words):
        raise PermissionError(13, "Permission denied", "runs")

    monkeypatch.setattr(doctor, "main", refuse)
    answer = respawn("doctor")
    assert answer.exit_code == 2 and answer.sentence.startswith(
        "the system refuses: [Errno 13] Permission denied: 'runs'"
    )


def test_threads_sleep_soon_unless_somebody_wants_it_otherwise(respawn, monkeypatch):
    monkeypatch.setattr(doctor, "main", lambda words: 0)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    respawn("doctor")
    assert "GOMP_SPINCOUNT" not in os.environ
    monkeypatch.delenv("OMP_WAIT_POLICY")
    respawn("doctor")
    assert os.environ["GOMP_SPINCOUNT"] == SPINS
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    respawn("doctor")
    assert os.environ["GOMP_SPINCOUNT"] == "7"


def test_help_needs_no_torch():
    asked = [["--help"], ["train", "--help"], ["train", "chess"], ["evaluate"], ["resume", "x"], ["bench"]]
    code = f"import sys; from respawn.cli.main import main; [main(words) for words in {asked}]; "
    code += "assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
