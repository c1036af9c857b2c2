import contextlib
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trouble_env  # noqa: F401  registers environments that fail on purpose

from respawn.cli.main import main

TINY = [
    *("--collection.horizon-steps", "16", "--collection.num-lanes", "2", "--learner.epochs", "1"),
    *("--learner.minibatches", "2", "--observers.no-tensorboard", "--observers.no-console", "--device", "cpu"),
]


@dataclass(frozen=True)
class Answer:
    """What a command did."""

    exit_code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The only line on stderr."""
        assert self.err.startswith("respawn: ") and self.err.endswith("\n") and self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.out + self.err
        return self.err.removeprefix("respawn: ").rstrip("\n")


@pytest.fixture
def no_room() -> Callable[[], AbstractContextManager[None]]:
    """Let no file grow beyond a few bytes: the system refuses that as on a full disk, without the file's name."""

    @contextlib.contextmanager
    def limited() -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture
def narrow(respawn: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The lines that a command shows in a window of so many columns, which cuts nothing off."""

    def call(columns: int, *words: str) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        answer = respawn(*words)
        lines = [line.rstrip() for line in answer.out.splitlines()]
        assert answer.exit_code == 0 and "…" not in answer.out
        return lines

    return call


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder with two runs, made once; use `runs` for one that may be changed."""
    runs = tmp_path_factory.mktemp("trained") / "runs"
    assert main(["train", "cartpole-ppo", "--updates", "3", "--name", "pole", "--runs", str(runs), *TINY]) == 0
    recall = [
        "train",
        "memory-gru",
        "--updates",
        "2",
        "--name",
        "recall",
        "--runs",
        str(runs),
        "--model.core-size",
        "8",
    ]
    assert main([*recall, *TINY]) == 0
    return runs


@pytest.fixture(scope="session")
def jumper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder with a Mario run of one update: it knows nothing, but it can be judged."""
    runs = tmp_path_factory.mktemp("mario") / "runs"
    watched = ["--evaluation.every-updates", "1", "--evaluation.episodes", "2", "--evaluation.num-lanes", "2"]
    words = ["train", "mario", "--updates", "1", "--name", "jumper", "--runs", str(runs), *TINY, *watched]
    assert main(words) == 0
    return runs


@pytest.fixture
def runs(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the two runs in ./runs, where commands look when they are told nothing else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copytree(trained, tmp_path / "runs")
    return Path("runs")


@pytest.fixture
def respawn(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """The command line, in this process."""

    def call(*words: str) -> Answer:
        capsys.readouterr()
        try:
            exit_code = main(words)
        except SystemExit as leaving:  # tyro leaves by itself after --help
            exit_code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return Answer(exit_code, captured.out, captured.err)

    return call


@pytest.fixture
def tiny() -> list[str]:
    """Options that make any training short."""
    return list(TINY)
