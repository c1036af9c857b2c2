import pytest

from respawn.cli import bench


def test_help_names_every_bench(respawn):
    answer = respawn("bench", "--help")
    assert answer.exit_code == 0
    for name, text in bench.BENCHES.items():
        assert f"  {name:<9} {text}" in answer.out.splitlines()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "'respawn bench' wants one of overlap, engine, world, train, replay, and nothing came"),
        (["sing"], "'respawn bench' wants one of overlap, engine, world, train, replay, not 'sing'"),
    ],
)
def test_bad_input_is_one_sentence(respawn, words, sentence):
    answer = respawn("bench", *words)
    assert answer.exit_code == 2 and answer.sentence.startswith(sentence)
