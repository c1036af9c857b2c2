import sys

import pytest

from respawn.worlds.mario.measure_peers import Peer, PeerFailedError, PeerMissingError, peer_scripts

READY = "import sys, time\nprint('ready', flush=True)\n"


@pytest.fixture
def start(tmp_path):
    def start(code, **options):
        script = tmp_path / "peer_one.py"
        script.write_text(code)
        return Peer(script, ["--rom", str(tmp_path / "game.nes")], sys.executable, **options)

    return start


def test_names_come_from_the_scripts(tmp_path):
    for name in ("peer_turbo.py", "peer_gym_super_mario_bros.py", "serving.py", "peer_notes.txt"):
        (tmp_path / name).touch()
    assert list(peer_scripts(tmp_path)) == ["gym-super-mario-bros", "turbo"]


def test_a_peer_answers_as_often_as_it_is_asked_and_gets_the_rom(start, tmp_path):
    code = READY + (
        "assert sys.argv[1:] == ['--rom', sys.argv[2]] and sys.argv[2].endswith('game.nes')\n"
        "for number, line in enumerate(sys.stdin, 1):\n"
        "    seconds = float(line.removeprefix('measure '))\n"
        '    print(\'{"decisions": %d, "seconds": %f}\' % (number, seconds), flush=True)\n'
    )
    with start(code) as peer:
        first, second = peer.run(0.25), peer.run(0.5)
    assert (first.count, first.seconds, first.cpu_seconds) == (1, 0.25, 0.25)
    assert second.per_second == pytest.approx(4.0)


def test_a_peer_that_is_not_installed_says_so(start):
    with pytest.raises(PeerMissingError, match=r"^turbo$"):
        start("print('missing turbo')")


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        ("import sys; sys.exit('its eyes hurt')", "ended with exit code 1: its eyes hurt"),
        ("", "ended with exit code 0"),
        ("print('hello')", "said 'hello' instead of 'ready'"),
    ],
)
def test_a_peer_that_does_not_get_ready(start, code, clause):
    with pytest.raises(PeerFailedError, match=f"^{clause}$"):
        start(code)


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        ("input(); raise ValueError('too fast')", "ended with exit code 1: ValueError: too fast"),
        ("input(); print('17')", "answered '17', which is no JSON with its decisions and seconds"),
        ('input(); print(\'{"decisions": 0, "seconds": 1}\')', "answered .*, which is no JSON"),
        ("input(); print('x' * 5000)", "answered 'x{199}…', which"),
    ],
)
def test_a_peer_that_does_not_measure(start, code, clause):
    with start(READY + code) as peer, pytest.raises(PeerFailedError, match=f"^{clause}"):
        peer.run(0.01)


def test_a_peer_that_is_gone_is_not_waited_for(start):
    with start(READY + "sys.exit(3)") as peer:
        peer._process.wait()
        with pytest.raises(PeerFailedError, match=r"^ended with exit code 3$"):
            peer.run(0.01)


def test_peers_that_hang_are_given_up_and_ended(start, monkeypatch):
    monkeypatch.setattr("respawn.worlds.mario.measure_peers.END_SECONDS", 0.2)
    with pytest.raises(PeerFailedError, match="took more than 0 s to be ready"):
        start("import time; time.sleep(600)", start_seconds=0.3)
    with start(READY + "time.sleep(600)") as peer:
        with pytest.raises(PeerFailedError, match="took more than 0 s to answer"):
            peer.run(0.01, answer_seconds=0.2)
        process = peer._process
    assert process.poll() is not None


def test_a_peer_computes_with_one_thread(start):
    code = "import os\n" + READY + "assert os.environ['RAYON_NUM_THREADS'] == os.environ['OMP_NUM_THREADS'] == '1'\n"
    with start(code) as peer:
        assert peer._process.wait(60) == 0
