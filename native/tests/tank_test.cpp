// Checks steps, senses, pay and tallies of schools against a plain program that takes one fish after the other and
// rounds every operation on its own, on every path, and prints how long each takes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fish/neighbours.h"
#include "fish/tank.h"
#include "screen/simd.h"
#include "tests/scalar_fish.h"

namespace {

using namespace scalar_fish;

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    ++failures;
    if (failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

using Random = std::mt19937;

float uniform(Random& random, float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
}

struct Water {
    int schools, fish;
    std::vector<float> swimmers, predators, distance, turns_efforts;
    std::vector<std::uint8_t> alive, caught;
    std::vector<std::int64_t> actions;

    Water(int schools, int fish)
        : schools(schools),
          fish(fish),
          swimmers(4 * all()),
          predators(4 * static_cast<std::size_t>(schools)),
          distance(all(), -1.0f),
          turns_efforts(2 * all()),
          alive(all(), std::uint8_t{1}),
          caught(all(), std::uint8_t{7}),
          actions(all()) {}

    std::size_t all() const { return static_cast<std::size_t>(schools) * static_cast<std::size_t>(fish); }
    std::size_t school_of(std::size_t i) const { return i / static_cast<std::size_t>(fish); }

    fish::Tanks view() {
        return {schools, fish, swimmers.data(), predators.data(), alive.data(), distance.data(), caught.data()};
    }
    static Motion of(const std::vector<float>& planes, std::size_t i) {
        const std::size_t plane = planes.size() / 4;
        return {planes[i], planes[plane + i], planes[2 * plane + i], planes[3 * plane + i]};
    }
    Motion swimmer(std::size_t i) const { return of(swimmers, i); }
    Motion predator(std::size_t school) const { return of(predators, school); }

    bool operator==(const Water& other) const {
        const auto same = [](const auto& a, const auto& b) {
            return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
        };
        return same(swimmers, other.swimmers) && same(predators, other.predators) && same(distance, other.distance) &&
               same(alive, other.alive) && same(caught, other.caught);
    }

    Water part(int school) const {
        Water alone(1, fish);
        const auto first = static_cast<std::size_t>(school) * static_cast<std::size_t>(fish);
        for (std::size_t i = 0; i < alone.all(); ++i) {
            for (std::size_t n = 0; n < 4; ++n) alone.swimmers[n * alone.all() + i] = swimmers[n * all() + first + i];
            alone.alive[i] = alive[first + i];
            alone.actions[i] = actions[first + i];
        }
        for (std::size_t n = 0; n < 4; ++n) {
            alone.predators[n] = predators[n * static_cast<std::size_t>(schools) + static_cast<std::size_t>(school)];
        }
        return alone;
    }
};

// Fish all over the tank, many at the wall, some that stand or hardly move, some that are too fast, some dead.
Water tanks(int schools, int fish, std::uint32_t seed) {
    Random random(seed);
    Water water(schools, fish);
    const std::size_t all = water.all();
    for (std::size_t i = 0; i < all; ++i) {
        const float far = random() % 3 == 0 ? uniform(random, 9.7f, 10.0f) : uniform(random, 0, 10);
        const float angle = uniform(random, 0, 6.2831853f);
        const float speeds[] = {0.0f, 0.01f, uniform(random, 0, 0.03f), uniform(random, 0, 2), 2.0f, 7.0f};
        const float fast = speeds[random() % 6];
        const float heading = uniform(random, 0, 6.2831853f);
        water.swimmers[i] = far * std::cos(angle);
        water.swimmers[all + i] = far * std::sin(angle);
        water.swimmers[2 * all + i] = fast * std::cos(heading);
        water.swimmers[3 * all + i] = fast * std::sin(heading);
        water.alive[i] = random() % 5 != 0;
        water.actions[i] = static_cast<std::int64_t>(random() % 6) - (random() % 50 == 0 ? 3 : 0);
        water.turns_efforts[2 * i] = uniform(random, -1.5f, 1.5f);
        water.turns_efforts[2 * i + 1] = uniform(random, -1.5f, 1.5f);
    }
    const auto number = static_cast<std::size_t>(schools);
    for (std::size_t i = 0; i < number; ++i) {
        water.predators[i] = uniform(random, -7, 7);
        water.predators[number + i] = uniform(random, 0, 7.2f);
        water.predators[2 * number + i] = uniform(random, -3, 3);
        water.predators[3 * number + i] = uniform(random, -3, 3);
        if (i % 7 == 3) water.predators[i] = water.predators[number + i] = 0.0f;
    }
    return water;
}

void step(Water& water, bool freely = false, int threads = 1) {
    const fish::Orders orders{freely ? nullptr : water.actions.data(), water.turns_efforts.data()};
    fish::step(water.view(), orders, threads);
}

bool equal(Motion a, Motion b) {
    return a.x.value == b.x.value && a.y.value == b.y.value && a.vx.value == b.vx.value && a.vy.value == b.vy.value;
}

bool close(Motion a, Motion b) {
    const auto near = [](Number a, Number b) {
        return std::abs(a.wide() - b.wide()) <= 1e-6 * (1 + std::abs(a.wide()));
    };
    return near(a.x, b.x) && near(a.y, b.y) && near(a.vx, b.vx) && near(a.vy, b.vy);
}

constexpr std::pair<int, int> kSizes[] = {{1, 1}, {3, 7}, {5, 16}, {64, 25}, {9, 96}, {2, 1000}, {1, 1500}};

void steps_are_those_of_one_fish_after_the_other() {
    int bounces = 0;
    int catches = 0;
    for (const auto& [schools, fish] : kSizes) {
        for (const bool freely : {false, true}) {
            Water water = tanks(schools, fish, static_cast<std::uint32_t>(fish));
            for (int round = 0; round < 8; ++round) {
                const Water before = water;
                step(water, freely);
                for (std::size_t i = 0; i < water.all(); ++i) {
                    const std::string who = std::to_string(schools) + " schools of " + std::to_string(fish) +
                                            (freely ? ", freely" : "") + ": fish " + std::to_string(i);
                    const Motion at = before.swimmer(i);
                    const bool lived = before.alive[i] != 0;
                    const Motion wanted =
                        !lived   ? at
                        : freely ? swum_freely(at, before.turns_efforts[2 * i], before.turns_efforts[2 * i + 1])
                                 : swum(at, before.actions[i]);
                    const Motion came = water.swimmer(i);
                    expect(freely ? close(came, wanted) : equal(came, wanted), who + " is elsewhere");
                    const Motion predator = water.predator(water.school_of(i));
                    expect(equal(predator, fallen(before.predator(water.school_of(i)))), "a predator is elsewhere");
                    const Number distance = length(came.x - predator.x, came.y - predator.y);
                    expect(water.distance[i] == distance.value, who + " is at another distance");
                    const bool caught = lived && distance < 0.7f;
                    expect(water.caught[i] == caught && water.alive[i] == (lived && !caught), who + " died or did not");
                    bounces += lived && length(came.x, came.y) > 9.9999f;
                    catches += caught;
                }
            }
        }
    }
    expect(bounces > 1000 && catches > 100, "hardly anything happened");
}

void senses_and_pay_are_those_of_one_fish_after_the_other() {
    for (const auto& [schools, fish] : kSizes) {
        Water water = tanks(schools, fish, 5);
        step(water);
        const Water before = water;
        Random random(1);
        std::vector<float> facts(water.all() * fish::kFacts);
        for (std::size_t i = 0; i < facts.size(); ++i) {
            facts[i] = i % fish::kFacts == 0 ? static_cast<float>(random() % 9) : uniform(random, -1, 1);
        }
        for (const int values : {11, 13, 18, 20}) {
            const bool crowded = values >= 18;
            std::vector<float> senses(water.all() * static_cast<std::size_t>(values), -7.0f);
            fish::sense(water.view(), {senses.data(), values, crowded ? facts.data() : nullptr, 6.0f}, 1);
            for (std::size_t i = 0; i < water.all(); ++i) {
                const Motion at = water.swimmer(i);
                const Motion hunter = water.predator(water.school_of(i));
                const Number distance = water.distance[i];
                const bool sees = distance < kVision;
                std::vector<Number> wanted{at.x / 10.0f,
                                           at.y / 10.0f,
                                           at.vx / 2.0f,
                                           at.vy / 2.0f,
                                           (Number(10.0f) - length(at.x, at.y)) / 10.0f,
                                           sees ? 1.0f : 0.0f};
                for (const Number n : {(hunter.x - at.x) / kVision, (hunter.y - at.y) / kVision, hunter.vx / 2.0f,
                                       hunter.vy / 2.0f, distance / kVision}) {
                    wanted.push_back(sees ? n : 0.0f);
                }
                if (!water.alive[i]) std::fill(wanted.begin(), wanted.end(), Number(0.0f));
                if (crowded) {
                    wanted.push_back(std::min(1.0f, (Number(facts[i * 7]) / 6.0f).value));
                    for (std::size_t n = 1; n < 7; ++n) wanted.push_back(facts[i * 7 + n]);
                }
                while (wanted.size() < static_cast<std::size_t>(values)) wanted.push_back(-7.0f);
                for (std::size_t n = 0; n < wanted.size(); ++n) {
                    expect(senses[i * wanted.size() + n] == wanted[n].value, "sense " + std::to_string(n));
                }
            }
        }
        for (const int kind : {0, 1, 2, 3}) {
            const fish::Prices prices{2, 10, 5, 4.5f, 3, 0.1f, 50, kind % 2 == 0, 6, 0.4f, 0.05f, 0.2f};
            const bool crowded = kind >= 2;
            std::vector<float> paid(water.all(), -7.0f);
            fish::pay(water.view(), prices, crowded ? facts.data() : nullptr, paid.data(), 1);
            for (std::size_t i = 0; i < water.all(); ++i) {
                const Motion at = water.swimmer(i);
                const Number distance = water.distance[i];
                Number sight = prices.out_of_sight;
                if (prices.smooth) {
                    const Number share = distance / prices.reach;
                    sight = Number(prices.out_of_sight) * (share > 1.0f ? Number(1.0f) : share);
                } else if (distance < kVision) {
                    sight = Number(prices.sight) * distance / kVision;
                }
                const Number margin = Number(10.0f) - length(at.x, at.y);
                const Number wall = margin < 1.0f ? Number(prices.wall) * (Number(1.0f) - margin) : 0.0f;
                Number earned = Number(prices.alive) + sight - wall;
                if (crowded && facts[i * 7] > 0) {
                    const Number full = Number(facts[i * 7]) / prices.crowd_count - prices.crowd_target;
                    const Number cost = Number(prices.crowd) * (full < 0.0f ? Number(0.0f) : full);
                    earned = earned + (Number(prices.divergence) * facts[i * 7 + 6] - cost);
                }
                const Number wanted = water.alive[i] ? Number(prices.scale) * earned : 0.0f;
                expect(paid[i] == (water.caught[i] ? -50.0f : wanted.value), "pay " + std::to_string(kind));
            }
        }
        expect(water == before, "senses or pay changed the tanks");
    }
}

void tallies_are_right() {
    for (const auto& [schools, fish] : kSizes) {
        Water water = tanks(schools, fish, 8);
        step(water);
        const auto number = static_cast<std::size_t>(schools);
        std::vector<float> reward(water.all());
        for (std::size_t i = 0; i < reward.size(); ++i) reward[i] = 0.1f * static_cast<float>(i % 13);
        std::vector<std::int32_t> steps(number), deaths(water.all(), -1);
        for (std::size_t i = 0; i < number; ++i) steps[i] = static_cast<std::int32_t>(i) + 3;
        std::vector<double> rewards(number, -1);
        std::vector<std::int64_t> living(number, -1);
        fish::tally(water.view(), {reward.data(), steps.data(), deaths.data(), rewards.data(), living.data()}, 1);
        std::vector<double> sums(number);
        std::vector<std::int64_t> alive(number);
        for (std::size_t i = 0; i < water.all(); ++i) {
            sums[water.school_of(i)] += static_cast<double>(reward[i]);
            alive[water.school_of(i)] += water.alive[i];
            expect(deaths[i] == (water.caught[i] ? steps[water.school_of(i)] : -1), "a death step");
        }
        expect(sums == rewards && alive == living, "a tally");
    }
}

void bytes_depend_on_neither_path_nor_threads_nor_others() {
    for (const auto& [schools, fish] : {std::pair{64, 25}, std::pair{5, 97}, std::pair{1400, 96}}) {
        for (const bool freely : {false, true}) {
            const Water start = tanks(schools, fish, 3);
            Water first = start;
            std::vector<float> first_senses(first.all() * 11), first_pay(first.all());
            const fish::Prices prices{2, 10, 5, 4.5f, 3, 0.1f, 50, true, 6, 0.4f, 0, 0};
            for (const screen::SimdPath path : screen::usable_paths()) {
                screen::set_path(path);
                for (const int threads : {1, 2, 3}) {
                    const bool is_first = path == screen::usable_paths()[0] && threads == 1;
                    Water water = start;
                    std::vector<float> senses(first_senses.size()), paid(first_pay.size());
                    for (int round = 0; round < 3; ++round) step(water, freely, threads);
                    fish::sense(water.view(), {senses.data(), 11, nullptr, 1}, threads);
                    fish::pay(water.view(), prices, nullptr, paid.data(), threads);
                    if (is_first) {
                        first = water;
                        first_senses = senses;
                        first_pay = paid;
                    }
                    const auto same = [](const auto& a, const auto& b) {
                        return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
                    };
                    expect(water == first && same(senses, first_senses) && same(paid, first_pay),
                           std::string("path ") + screen::path_name(path) + " with " + std::to_string(threads) +
                               " threads gives other bytes");
                }
            }
            screen::set_path(screen::usable_paths()[0]);
            if (freely || schools > 100) continue;
            for (int school = 0; school < schools; ++school) {
                Water alone = start.part(school);
                for (int round = 0; round < 3; ++round) step(alone);
                for (std::size_t i = 0; i < alone.all(); ++i) {
                    const std::size_t place = static_cast<std::size_t>(school) * alone.all() + i;
                    expect(equal(alone.swimmer(i), first.swimmer(place)) && alone.alive[i] == first.alive[place],
                           "a school depends on the others");
                }
            }
        }
    }
}

void neighbours_of_planes_are_those_of_pairs() {
    const Water water = tanks(7, 80, 4);
    const std::size_t all = water.all();
    std::vector<float> pairs(4 * all), of_pairs(all * fish::kFacts), of_planes(all * fish::kFacts);
    for (std::size_t i = 0; i < all; ++i) {
        for (std::size_t n = 0; n < 2; ++n) {
            pairs[2 * i + n] = water.swimmers[n * all + i];
            pairs[2 * all + 2 * i + n] = water.swimmers[(n + 2) * all + i];
        }
    }
    const float* const p = pairs.data();
    const float* const x = water.swimmers.data();
    const std::uint8_t* const alive = water.alive.data();
    fish::neighbours({7, 80, p, p + 1, p + 2 * all, p + 2 * all + 1, 2, alive}, {3.0f, 6}, of_pairs.data(), 1);
    fish::neighbours({7, 80, x, x + all, x + 2 * all, x + 3 * all, 1, alive}, {3.0f, 6}, of_planes.data(), 2);
    expect(std::memcmp(of_pairs.data(), of_planes.data(), of_pairs.size() * sizeof(float)) == 0,
           "planes and pairs give other facts");
}

void refuses_what_makes_no_sense() {
    Water water = tanks(2, 4, 9);
    std::vector<float> out(8 * 18);
    std::vector<float> facts(8 * fish::kFacts);
    const auto refused = [](const auto& call) {
        try {
            call();
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    expect(refused([&] { step(water, false, 0); }), "no threads");
    expect(refused([&] { fish::sense(water.view(), {out.data(), 10, nullptr, 1}, 1); }), "too few numbers");
    expect(refused([&] { fish::sense(water.view(), {out.data(), 17, facts.data(), 6}, 1); }), "too few for facts");
    for (const auto& [schools, fish] : {std::pair{0, 4}, std::pair{4, 0}}) {
        Water nobody = tanks(schools, fish, 1);
        const Water before = nobody;
        step(nobody, false, 2);
        if (schools) expect(equal(nobody.predator(1), fallen(before.predator(1))), "a predator waits for fish");
    }
}

void print_speeds() {
    for (const auto& [schools, fish] : {std::pair{512, 25}, std::pair{512, 96}}) {
        const Water start = tanks(schools, fish, 2);
        std::vector<float> senses(start.all() * 18), paid(start.all());
        const fish::Prices prices{2, 10, 5, 4.5f, 3, 0.1f, 50, true, 6, 0.4f, 0, 0};
        for (const screen::SimdPath path : screen::usable_paths()) {
            screen::set_path(path);
            double best = 1e9;
            for (int round = 0; round < 5; ++round) {
                Water water = start;
                const auto begin = std::chrono::steady_clock::now();
                step(water);
                fish::sense(water.view(), {senses.data(), 18, nullptr, 1}, 1);
                fish::pay(water.view(), prices, nullptr, paid.data(), 1);
                best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
            }
            std::printf("%4d fish, %-6s: %6.1f million fish/s step, sense and are paid on one thread\n", fish,
                        screen::path_name(path), static_cast<double>(start.all()) / best / 1e6);
        }
    }
    screen::set_path(screen::usable_paths()[0]);
}

}  // namespace

int main() {
    steps_are_those_of_one_fish_after_the_other();
    senses_and_pay_are_those_of_one_fish_after_the_other();
    tallies_are_right();
    bytes_depend_on_neither_path_nor_threads_nor_others();
    neighbours_of_planes_are_those_of_pairs();
    refuses_what_makes_no_sense();
    print_speeds();
    if (failures) std::printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
