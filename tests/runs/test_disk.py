import pytest

from respawn.runs.disk import is_nearly_full, room_on_disk, room_told


@pytest.mark.parametrize(
    ("free_gib", "free_share", "is_full"),
    [(6.0, 0.06, False), (4.0, 0.04, True), (20.0, 0.002, False), (2.0, 0.5, False), (0.5, 0.5, True)],
)
def test_a_disk_is_nearly_full_where_both_size_and_share_are_low(free_gib, free_share, is_full):
    assert is_nearly_full(free_gib, free_share) is is_full


def test_where_the_share_is_not_known_only_a_full_disk_is_told():
    assert not is_nearly_full(4.0, None) and is_nearly_full(0.5, None)


def test_the_smallest_room_is_told_in_a_unit_that_says_something():
    assert [room_told(free) for free in (0.0, 0.00125, 0.5, 1.5, 2000)] == [
        *("0 B", "1.3 MiB", "512.0 MiB", "1.5 GiB", "2.0 TiB"),
    ]


def test_the_room_on_a_disk_that_is_there(tmp_path):
    room = room_on_disk(tmp_path)
    assert room.free_gib >= 0 and 0 <= room.free_share <= 1
