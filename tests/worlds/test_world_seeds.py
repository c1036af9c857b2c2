from respawn.testing.suites.saveable import check_saveable, freeze
from respawn.worlds.seeds import LaneSeeds, lane_seeds


def test_lanes_keep_their_seed_when_there_are_more():
    assert lane_seeds(5, 64)[:8] == lane_seeds(5, 8)
    assert len(set(lane_seeds(5, 64))) == 64
    assert lane_seeds(5, 8) != lane_seeds(6, 8)
    assert all(0 <= seed < 2**31 for seed in lane_seeds(5, 64))


def test_renewed_seeds_follow_from_the_lane_alone():
    first, second = LaneSeeds(3), LaneSeeds(3)
    first.begin([1, 2, 3])
    second.begin([9, 2, 9])
    first.renew([0])
    assert first.renew([1, 1]) == second.renew([1, 1])
    assert len({*first.renew([0, 1, 2]), *first.renew([0, 1, 2])}) == 6


def test_saveable():
    def make() -> LaneSeeds:
        seeds = LaneSeeds(2)
        seeds.begin([4, 5])
        return seeds

    check_saveable(make, lambda seeds: seeds.renew([0, 1]) and None, lambda seeds: freeze(seeds.state()))
