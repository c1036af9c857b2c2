import os
import pty
import signal
import subprocess
import sys
import time

from respawn.checkpoints.store import find_newest
from respawn.runs.layout import RunFolder
from respawn.runs.metadata import read_status
from respawn.runs.reader import read_updates


def test_a_terminal_that_is_closed_loses_no_update(tmp_path):
    folder = RunFolder(tmp_path / "left")
    words = [
        "train",
        "cartpole-ppo",
        "--name",
        "left",
        "--runs",
        str(tmp_path),
        "--checkpoints.every-updates",
        "100000",
    ]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "respawn", *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    try:
        deadline = time.monotonic() + 60
        while not (folder.updates.exists() and folder.updates.read_text().count("\n") >= 3):
            assert time.monotonic() < deadline and process.poll() is None, "it does not train"
            time.sleep(0.1)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 128 + signal.SIGHUP
    finally:
        process.kill()
        process.wait()
    assert read_status(folder).status == "stopped" and not folder.failure.exists()
    assert find_newest(folder.checkpoints).manifest.updates == len(list(read_updates(folder)))
