"""Words that several commands share."""

from respawn.cli.wording import counted


def test_things_are_counted_as_people_count_them():
    assert [counted(number, "trial") for number in (0, 1, 1200)] == ["0 trials", "1 trial", "1,200 trials"]
