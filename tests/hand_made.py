"""Run folders made by hand, in milliseconds: what an operator may find, without training anything."""

import hashlib
import json
import os
import socket
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from respawn.checkpoints.manifest import Manifest, file_sha256
from respawn.contracts.records import (
    Beat,
    Episode,
    EpisodeReport,
    EvaluationReport,
    Event,
    Record,
    ResourceReport,
    UpdateReport,
)
from respawn.runs.json_files import write_json_atomically
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import RunMeta, write_meta
from respawn.runs.rotation import archive_numbers
from respawn.runs.rows import to_line, to_row

NOW = 1_800_000_000.0
"""When hand-made runs are looked at, in seconds since 1970."""

CONFIG: dict[str, Any] = {
    "updates": 100,
    "planned_updates": 100,
    "minutes": None,
    "seed": 0,
    "collection": {"num_lanes": 4, "horizon_steps": 64, "actors": 0},
    "checkpoints": {"every_seconds": 60.0, "best_metric": "evaluation/return_mean"},
    "observers": {"heartbeat_seconds": 30.0, "hint_cooldown_updates": 200},
    "learner": {"optimizer": {"learning_rate": 0.001}},
}
"""As much of a configuration as anybody looks at."""

OF_NO_TENSORS = hashlib.sha256().hexdigest()
"""The fingerprint of weights without any."""


def when(seconds_ago: float) -> str:
    """A time before NOW, as streams have it."""
    return datetime.fromtimestamp(NOW - seconds_ago, UTC).isoformat(timespec="milliseconds")


class HandMade:
    """A run folder that is written file by file."""

    def __init__(self, path: Path, config: Mapping[str, Any] = CONFIG, config_sha256: str = "") -> None:
        path.mkdir(parents=True)
        self.config_sha256 = config_sha256
        self.folder = RunFolder(path)
        self.folder.checkpoints.mkdir()
        self.folder.workers.mkdir()
        write_meta(self.folder, _meta(path.name))
        write_json_atomically(self.folder.config, dict(config))

    def status(self, status: str, **facts: Any) -> "HandMade":
        """Say how it is."""
        said = {"status": status, "time": when(0), "pid": os.getpid(), "host": socket.gethostname(), **facts}
        write_json_atomically(self.folder.status, said)
        return self

    def updates(self, count: int = 30, **metrics: Any) -> "HandMade":
        """Rows of updates, the last of them made NOW; a metric is a number, or answers one for each update."""
        for update in range(1, count + 1):
            told = {
                "loss/policy": 0.5,
                "return/mean": float(update),
                "time/update_seconds": 2.0,
                "time/decisions_per_second": 128.0,
                "time/collect_share": 0.25,
                "time/learn_share": 0.5,
                "time/idle_share": 0.0,
                "time/other_share": 0.25,
                "time/unix": NOW - 2.0 * (count - update),
                **{
                    name.replace("__", "/"): value(update) if callable(value) else value
                    for name, value in metrics.items()
                },
            }
            told = {name: value for name, value in told.items() if value is not None}
            episodes = int(told.pop("episodes", update))
            self._write(self.folder.updates, [UpdateReport(update, 256 * update, 256 * update, episodes, told)])
        return self

    def episodes(self, *ended: Episode, update: int = 1) -> "HandMade":
        """Episodes that ended in an update."""
        self._write(self.folder.episodes, [EpisodeReport(update, episode) for episode in ended])
        return self

    def evaluation(self, update: int, **metrics: float) -> "HandMade":
        """One evaluation."""
        told = {f"evaluation/{name}": value for name, value in metrics.items()}
        self._write(self.folder.evaluations, [EvaluationReport(update, 256 * update, told)])
        return self

    def event(self, event: Event, seconds_ago: float = 10.0) -> "HandMade":
        """One event."""
        self._write(self.folder.events, [event], when(seconds_ago))
        return self

    def beat(self, seconds_ago: float, *, is_stalled: bool = False, **metrics: float) -> "HandMade":
        """One beat."""
        told = {f"heartbeat/{name}": value for name, value in metrics.items()}
        self._write(
            self.folder.heartbeats, [Beat(3, 768, {"MainThread": "learn"}, is_stalled, told)], when(seconds_ago)
        )
        return self

    def resources(self, seconds_ago: float, **metrics: float) -> "HandMade":
        """One sample."""
        told = {f"resource/{name}": value for name, value in metrics.items()}
        self._write(self.folder.resources, [ResourceReport(3, 768, told)], when(seconds_ago))
        return self

    def checkpoint(self, update: int, seconds_ago: float = 5.0) -> Path:
        """A whole checkpoint that knows of the rows that are there now."""
        path = self.folder.checkpoints / f"u{update:08d}"
        path.mkdir()
        streams = (self.folder.updates, self.folder.episodes, self.folder.evaluations)
        known = {stream.stem: _known(stream) for stream in streams}
        (path / "observers.json").write_text(json.dumps(known), encoding="utf-8")
        (path / "weights.json").write_text("{}", encoding="utf-8")
        manifest = Manifest(
            schema_version=1,
            respawn_version="0.1.0",
            saved_at=when(seconds_ago),
            updates=update,
            decisions=256 * update,
            config_sha256=self.config_sha256,
            world="CartPole-v1",
            weights_sha256=OF_NO_TENSORS,
            metrics={},
            files={file.name: file_sha256(file) for file in path.iterdir()},
        )
        (path / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
        return path

    @staticmethod
    def _write(path: Path, records: Iterable[Record], time: str = "") -> None:
        stamp = {"time": time} if time else {}
        with path.open("ab") as file:
            file.writelines(to_line({**stamp, **to_row(record)}) for record in records)


def _meta(name: str) -> RunMeta:
    return RunMeta(
        id=name,
        name=name,
        preset="cartpole-ppo",
        world="CartPole-v1",
        seed=0,
        created=when(3600.0),
        command=("respawn", "train"),
        exact_resume=True,
        exact_resume_note="",
        git_commit=None,
        machine={"host": "here"},
    )


def _known(stream: Path) -> dict[str, Any]:
    content = stream.read_bytes() if stream.exists() else b""
    archive = max(archive_numbers(stream), default=0)
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "archive": archive}


def healthy(path: Path, config: Mapping[str, Any] = CONFIG, config_sha256: str = "") -> HandMade:
    """A run that finished, and of which nothing is wrong."""
    made = HandMade(path, config, config_sha256).status("finished", updates=30, goal_reached=False)
    made.updates(30).evaluation(20, return_mean=9.5)
    made.episodes(Episode(0, 1.0, 10, "terminated", {"x": 1.0})).beat(0.0, rss_mib=300.0, open_files=15.0, threads=7.0)
    made.event(Event("finished", "finished at update 30", facts={"update": 30}), 0.0)
    made.checkpoint(20, 20.0)
    made.checkpoint(30, 0.0)
    return made
