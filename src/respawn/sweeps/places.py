"""Where everything in a study's folder is, and who is at work on which trial."""

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from respawn.errors import ConfigError, RunFolderError
from respawn.evaluation.out_files import written_aside
from respawn.runs.layout import check_name


@dataclass(frozen=True)
class StudyFolder:
    """One study's folder; every path in it is named here and nowhere else."""

    path: Path

    @property
    def name(self) -> str:
        """The study's name, which is the folder's."""
        return self.path.name

    @property
    def database(self) -> Path:
        """The study itself, unless it is kept elsewhere."""
        return self.path / "study.db"

    @property
    def trials(self) -> Path:
        """A row for each trial."""
        return self.path / "trials.csv"

    @property
    def summary(self) -> Path:
        """All of it, for programs."""
        return self.path / "summary.json"

    @property
    def best(self) -> Path:
        """The best settings, for `respawn train --config`."""
        return self.path / "best.toml"

    def worker_output(self, number: int) -> Path:
        """What a worker printed."""
        return self.path / f"worker-{number}.log"

    @contextmanager
    def choosing(self) -> Iterator[None]:
        """Held while a trial is chosen, so that no two workers here choose the same or one too many."""
        with FileLock(str(self.path / "study.lock"), thread_local=False):
            yield

    @property
    def is_in_use(self) -> bool:
        """Whether somebody has gone on here after having been let in; to be asked while choosing."""
        return self._identity.exists()

    def identity(self) -> str:
        """Tells this folder from every other, of the same study on another machine too; to be asked while choosing.

        A machine's name would not do: in containers it changes from one start to the next.
        """
        if not self._identity.exists():
            with written_aside(self._identity) as aside:
                aside.write_text(f"{uuid.uuid4()}\n", encoding="utf-8")
        return self._identity.read_text(encoding="utf-8").strip()

    @property
    def _identity(self) -> Path:
        return self.path / "folder.id"

    def hold(self, number: int) -> FileLock | None:
        """Take a trial for this process until it is released; None: somebody else is at work on it.

        The operating system lets go of it even on kill -9, so a trial that is said to run and is not held was left.
        """
        folder = self.path / "trials"
        folder.mkdir(exist_ok=True)
        lock = FileLock(str(folder / f"t{number:04d}.lock"), timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock

    def at_work_on(self) -> list[int]:
        """The trials that somebody is at work on here."""
        held = []
        for path in sorted((self.path / "trials").glob("t*.lock")):
            number = int(path.stem.removeprefix("t"))
            lock = self.hold(number)
            if lock is None:
                held.append(number)
            else:
                lock.release()
        return held


def in_use_by_another(folder: StudyFolder, number: int) -> ConfigError:
    """What to raise where somebody here is at work on a trial that a study has not begun."""
    return ConfigError(
        f"{folder.path} is in use by another study of that name, in another --storage, whose trial {number} is being "
        "worked on; give another --name, or another --sweeps"
    )


def run_name(study: str, number: int) -> str:
    """What a trial's run is called."""
    return f"{study}-t{number:04d}"


def study_folder(sweeps_dir: Path, name: str) -> StudyFolder:
    """The folder of the study called `name`, which need not be there; raises RunFolderError for no name at all."""
    check_name(name)
    check_name(run_name(name, 0))
    return StudyFolder(sweeps_dir / name)


@contextmanager
def made_folder(folder: StudyFolder) -> Iterator[None]:
    """Hold a folder that may have to be made, as for choosing; where what is done inside is refused, it is gone again.

    But only if this very call made it, and nobody who waited for the same folder was let in before.
    """
    with ExitStack() as held:
        is_new, parent_is_new = _held(folder, held)
        try:
            yield
            folder.identity()  # from now on it is in use
        except BaseException:
            if is_new and not folder.is_in_use:
                shutil.rmtree(folder.path)
                with contextlib.suppress(OSError):  # other studies are there
                    if parent_is_new:
                        folder.path.parent.rmdir()
            raise


def _held(folder: StudyFolder, held: ExitStack) -> tuple[bool, bool]:
    """Make the folder and its parent if they are not there, and hold it; returns which of the two this call made."""
    while True:
        parent_is_new = not folder.path.parent.exists()
        is_new = make_folder(folder)
        # Whoever made it may be refused while we wait for it, and take it along.
        with contextlib.suppress(FileNotFoundError):
            held.enter_context(folder.choosing())
            return is_new, parent_is_new


def make_folder(folder: StudyFolder) -> bool:
    """Make it if it is not there; returns whether this call made it."""
    try:
        folder.path.mkdir(parents=True)
    except OSError as error:
        if folder.path.is_dir():
            return False
        raise RunFolderError(
            f"the study's folder {folder.path} cannot be made ({error}); pick another place"
        ) from error
    return True
