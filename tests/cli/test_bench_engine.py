import json
import sys

import pytest

from respawn.cli import bench_engine
from respawn.errors import RomError
from respawn.worlds.mario.rom import find_rom

KEYS = {
    *("decisions_per_second", "decisions_per_second_no_draw", "interpreter_decisions_per_second"),
    *("decisions_per_second_max_of_two", "interpreter_decisions_per_second_no_draw"),
    *(
        "two_threads_scale",
        "snapshot_us",
        "by_path",
        "peers",
        "peers_not_installed",
        "peers_failed",
        "spread",
        "least_cpu_share",
    ),
    *("simd_path", "recompiled", "engine", "lanes", "rounds", "seconds", "pinned_to_cores", "machine"),
}
PEER = """
import json, sys, time
print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps({"decisions": 20, "seconds": 2.0, "cpu_seconds": 1.9}), flush=True)
"""
TINY = ["bench", "engine", "--rounds", "2", "--seconds", "0.02", "--lanes", "3"]


@pytest.fixture
def mario(monkeypatch):
    """The game is here, and no compiler that would take half a minute."""
    monkeypatch.delenv("RESPAWN_ROM", raising=False)
    try:
        find_rom(expect="ntsc")
    except RomError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("CXX", "no-such-compiler")


@pytest.fixture
def measured():
    """What a run might measure."""
    spread = {"min": 60_000.0, "max": 66_000.0, "cpu_share": 1.0}
    names = [*bench_engine.ROWS, "by_path.plain", "peers.turbo", "peers.gym-super-mario-bros", "snapshot"]
    ratios = {"ratio": 12.0, "no_draw_ratio": 18.0, "interpreter_ratio": 3.2}
    return {
        **dict.fromkeys(bench_engine.ROWS, 123_456.0),
        "by_path": {"avx512": 123_456.0, "plain": 20_000.0},
        "peers": {
            "turbo": {"decisions_per_second": 5_100.0, **ratios},
            "gym-super-mario-bros": {"decisions_per_second": 120.0, **ratios},
        },
        "peers_not_installed": ["cynes"],
        "peers_failed": {},
        "spread": dict.fromkeys(names, spread),
        **{"two_threads_scale": 1.95, "snapshot_us": 0.31, "simd_path": "avx512", "recompiled": True},
        "least_cpu_share": 0.99,
        **{"lanes": 64, "rounds": 5, "seconds": 1.0},
    }


def test_json_has_all_its_keys_and_the_ratios_are_of_the_peer(respawn, mario, tmp_path):
    (tmp_path / "peer_slow_coach.py").write_text(PEER)
    answer = respawn(*TINY, "--peers", str(tmp_path), "--json")
    measured = json.loads(answer.out)
    assert answer.exit_code == 0 and set(measured) == KEYS
    peer = measured["peers"]["slow-coach"]
    assert peer["decisions_per_second"] == 10.0
    assert peer["ratio"] == pytest.approx(measured["decisions_per_second"] / 10.0)
    assert peer["no_draw_ratio"] == pytest.approx(measured["decisions_per_second_no_draw"] / 10.0)
    assert peer["interpreter_ratio"] == pytest.approx(measured["interpreter_decisions_per_second"] / 10.0)
    assert measured["by_path"][measured["simd_path"]] == measured["decisions_per_second"]
    assert measured["spread"]["peers.slow-coach"] == {"min": 10.0, "max": 10.0, "cpu_share": pytest.approx(0.95)}
    assert measured["lanes"] == 3 and measured["rounds"] == 2 and measured["snapshot_us"] > 0
    assert (measured["two_threads_scale"] is None) == (len(measured["pinned_to_cores"]) < 2)


def test_a_peer_that_crashes_is_left_out_with_a_sentence(respawn, mario, tmp_path):
    (tmp_path / "peer_bad.py").write_text("raise RuntimeError('no luck today')")
    (tmp_path / "peer_gone.py").write_text("print('missing gone')")
    answer = respawn(*TINY, "--peers", str(tmp_path), "--json")
    measured = json.loads(answer.out)
    assert measured["peers"] == {} and measured["peers_not_installed"] == ["gone"]
    sentence = "the peer bad is left out: it ended with exit code 1: RuntimeError: no luck today"
    assert measured["peers_failed"] == {"bad": sentence} and f"respawn: {sentence}\n" in answer.err


def test_without_scripts_it_is_said_that_no_peers_are_measured(respawn, mario, monkeypatch):
    from respawn.worlds.mario import measure_engine

    monkeypatch.setattr(measure_engine, "default_peers", lambda: None)
    answer = respawn(*TINY, "--json")
    assert json.loads(answer.out)["peers"] == {}
    assert "respawn: no peers are measured: their scripts are in the source tree only\n" in answer.err


def test_the_source_tree_has_scripts():
    from respawn.worlds.mario.measure_engine import default_peers
    from respawn.worlds.mario.measure_peers import peer_scripts

    folder = default_peers()
    assert folder is not None and set(peer_scripts(folder)) == {"turbo", "gym-super-mario-bros", "cynes"}


def test_table_fits_eighty_columns(respawn, measured, monkeypatch, tmp_path):
    rom = tmp_path / "any.nes"
    monkeypatch.setattr(bench_engine, "find_rom", lambda path, expect: rom)
    monkeypatch.setattr(bench_engine, "measure", lambda arguments, rom: measured)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for line in respawn("bench", "engine").out.splitlines()]
    assert max(map(len, lines)) <= 80
    first = next(line for line in lines if line.startswith("grey 84x84, stack"))
    assert first.split()[-4:] == ["5", "%", "24.2", "1,029"]
    assert "two threads: 1.95 times one" in lines and "snapshot and restore: 0.31 µs a console" in lines
    assert "not installed: cynes (make peers)" in lines and not any("warning" in line for line in lines)


@pytest.mark.parametrize("columns", [24, 40, 50, 60, 70, 80, 100])
def test_numbers_are_never_cut(respawn, measured, monkeypatch, columns):
    peers = {name: {"decisions_per_second": 10.5} for name in ("turbo", "gym-super-mario-bros", "cynes")}
    measured |= {"peers": peers, **dict.fromkeys(bench_engine.ROWS, 987_654.0)}
    measured["spread"] |= {f"peers.{name}": {"min": 9.0, "max": 12.0, "cpu_share": 1.0} for name in peers}
    monkeypatch.setattr(bench_engine, "find_rom", lambda path, expect: None)
    monkeypatch.setattr(bench_engine, "measure", lambda arguments, rom: measured)
    monkeypatch.setenv("COLUMNS", str(columns))
    out = respawn("bench", "engine").out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= columns
    assert "…" not in out and out.count("987,654") == len(bench_engine.ROWS)
    assert ("x turbo" in out) == (columns >= 50) and ("spread" in out) == (columns >= 80)


def test_one_round_has_no_spread(respawn, measured, monkeypatch):
    measured["rounds"] = 1
    monkeypatch.setattr(bench_engine, "find_rom", lambda path, expect: None)
    monkeypatch.setattr(bench_engine, "measure", lambda arguments, rom: measured)
    lines = respawn("bench", "engine").out.splitlines()
    first = next(line for line in lines if line.startswith("grey 84x84, stack"))
    assert first.split()[-4:] == ["123,456", "-", "24.2", "1,029"]


def test_a_core_that_others_used_is_a_warning(respawn, measured, monkeypatch):
    measured["least_cpu_share"] = 0.61
    measured["two_threads_scale"] = None
    monkeypatch.setattr(bench_engine, "find_rom", lambda path, expect: None)
    monkeypatch.setattr(bench_engine, "measure", lambda arguments, rom: measured)
    out = respawn("bench", "engine").out
    assert "warning: a measurement had only 61 % of its core" in out
    assert "two threads: not measured, there is one core" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--lanes", "0"], "--lanes must be from 1 to 65,536, not 0"),
        (["--rounds", "0"], "--rounds must be at least 1, not 0"),
        (["--seconds", "0"], "--seconds must be above 0, not 0.0"),
        (["--seconds", "inf"], "--seconds must be above 0 and finite, not inf"),
        (["--peers", "no/where"], "--peers wants a folder with the peers' scripts, and no/where is none"),
        (["--peers", "."], "--peers wants a folder with scripts called peer_NAME.py, and . has none"),
        (["--peers-python", "no/py"], "--peers-python wants a Python to run the peers with, and no/py is none"),
        (["--rom", "no.nes"], "the ROM no.nes is not there"),
        (["more"], "'respawn bench engine' has no use for the word 'more'"),
        (["--lane", "4"], "there is no option --lane for 'respawn bench engine'; did you mean --lanes?"),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = respawn("bench", "engine", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)


def test_another_game_is_refused(respawn, tmp_path):
    other = tmp_path / "other.nes"
    other.write_bytes(b"NES\x1a\x02\x01" + bytes(10 + 40_960))
    answer = respawn("bench", "engine", "--rom", str(other))
    assert answer.exit_code == 2 and "the ROM must be the NTSC Super Mario Bros." in answer.sentence


def test_without_an_engine_it_is_said_what_to_do(respawn, monkeypatch):
    monkeypatch.setattr(bench_engine, "find_rom", lambda path, expect: None)
    monkeypatch.setitem(sys.modules, "respawn.worlds.mario.engine", None)
    answer = respawn("bench", "engine")
    assert answer.exit_code == 1 and "the NES engine is not built here" in answer.sentence
