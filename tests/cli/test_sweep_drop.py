"""respawn sweep drop: to give up a trial whose machine is gone."""

import os
import signal
from pathlib import Path

from small_sweeps import small_sweep, work_here

from respawn.learners.ppo.learner import PPOLearner


def test_a_trial_that_is_left_can_be_dropped(respawn, tmp_path, monkeypatch):
    work_here(tmp_path, monkeypatch)
    storage = ["--storage", "journal:small.log"]
    real = PPOLearner.learn

    def learn(self, rollout, knobs):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(self, rollout, knobs)

    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "learn", learn)
        respawn(*small_sweep("--trials", "1"))
    answer = respawn("sweep", "drop", "small", "0", *storage)
    assert (answer.exit_code, answer.out) == (0, "Trial 0 is given up; its run stays as it is.\n")
    assert "Study small: 1 trial, 1 failed" in respawn("sweep", "show", "small", *storage).out
    again = respawn("sweep", "drop", "small", "0", *storage)
    assert again.exit_code == 2 and again.sentence.startswith("trial 0 has ended")
    elsewhere = respawn("sweep", "drop", "small", "0", *storage, "--sweeps", "elsewhere")
    assert elsewhere.exit_code == 2 and not Path("elsewhere").exists()
