// Checks what fish can tell about their neighbours against the definition, on every path, and prints how long each
// takes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fish/neighbours.h"
#include "screen/simd.h"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    ++failures;
    if (failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

using Random = std::mt19937;
using Facts = std::vector<float>;

constexpr float kTau = 6.2831853f;

float uniform(Random& random, float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
}

struct Water {
    int schools, fish;
    std::vector<float> positions, velocities;
    std::vector<std::uint8_t> alive;

    Water(int schools, int fish)
        : schools(schools), fish(fish), positions(2 * all()), velocities(2 * all()), alive(all(), std::uint8_t{1}) {}

    std::size_t all() const { return static_cast<std::size_t>(schools) * static_cast<std::size_t>(fish); }

    void put(std::size_t i, float x, float y) {
        positions[2 * i] = x;
        positions[2 * i + 1] = y;
    }

    fish::Schools view() const {
        const float* const p = positions.data();
        const float* const v = velocities.data();
        return {schools, fish, p, p + 1, v, v + 1, 2, alive.data()};
    }

    // Of one school alone.
    Water part(int school) const {
        Water alone(1, fish);
        const auto first = static_cast<std::size_t>(school) * static_cast<std::size_t>(fish);
        std::copy_n(positions.begin() + static_cast<std::ptrdiff_t>(2 * first), 2 * fish, alone.positions.begin());
        std::copy_n(velocities.begin() + static_cast<std::ptrdiff_t>(2 * first), 2 * fish, alone.velocities.begin());
        std::copy_n(alive.begin() + static_cast<std::ptrdiff_t>(first), fish, alone.alive.begin());
        return alone;
    }
};

// Uniform in the radius, so that the middle is crowded.
Water disc(int schools, int fish, float size, std::uint32_t seed) {
    Random random(seed);
    Water water(schools, fish);
    for (std::size_t i = 0; i < water.all(); ++i) {
        const float far = uniform(random, 0, size);
        const float angle = uniform(random, 0, kTau);
        water.put(i, far * std::cos(angle), far * std::sin(angle));
        water.velocities[2 * i] = uniform(random, -2, 2);
        water.velocities[2 * i + 1] = uniform(random, -2, 2);
    }
    return water;
}

Facts ask(const Water& water, fish::Question question, int threads = 1) {
    Facts facts(water.all() * fish::kFacts, -1.0f);  // whoever is left out is noticed
    fish::neighbours(water.view(), question, facts.data(), threads);
    return facts;
}

bool same(const Facts& a, const Facts& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// As the paths round it, whatever the compiler does to products and sums here.
float square_of(float x, float y) {
    const auto across = static_cast<float>(static_cast<double>(x) * x);
    const auto down = static_cast<float>(static_cast<double>(y) * y);
    return static_cast<float>(static_cast<double>(across) + down);
}

// The definition, in double: all facts of fish `i`, whose school begins at `first`.
std::array<double, fish::kFacts> defined(const Water& water, std::size_t first, std::size_t i,
                                         fish::Question question) {
    std::array<double, fish::kFacts> facts{};
    if (!water.alive[i]) return facts;
    const float* place = &water.positions[2 * i];
    std::vector<std::pair<float, std::size_t>> near;
    for (std::size_t j = first; j < first + static_cast<std::size_t>(water.fish); ++j) {
        const float* other = &water.positions[2 * j];
        const float square = square_of(other[0] - place[0], other[1] - place[1]);
        const bool is_near = square <= question.radius * question.radius;
        if (j != i && water.alive[j] && is_near) near.emplace_back(square, j);
    }
    if (near.empty()) return facts;
    std::sort(near.begin(), near.end());
    const auto count = static_cast<double>(near.size());
    const std::size_t averaged = std::min(near.size(), static_cast<std::size_t>(question.average_count));
    double mean = 0;
    double spread = 0;
    for (std::size_t n = 0; n < near.size(); ++n) {
        const std::size_t j = near[n].second;
        const double x = static_cast<double>(water.positions[2 * j]) - place[0];
        const double y = static_cast<double>(water.positions[2 * j + 1]) - place[1];
        const double far = std::hypot(x, y);
        const double across = water.velocities[2 * j];
        const double down = water.velocities[2 * j + 1];
        if (n == 0) facts[3] = far / question.radius;
        if (n < averaged) {
            facts[1] += x / question.radius / static_cast<double>(averaged);
            facts[2] += y / question.radius / static_cast<double>(averaged);
        }
        mean += std::hypot(across, down) / 2 / count;
        if (far > 0) facts[6] += (across * x + down * y) / far / 2 / count;
    }
    for (const auto& [square, j] : near) {
        const double speed = std::hypot(water.velocities[2 * j], water.velocities[2 * j + 1]) / 2;
        spread += (speed - mean) * (speed - mean) / count;
    }
    facts[0] = count;
    facts[4] = mean;
    facts[5] = std::sqrt(spread);
    return facts;
}

void check_definition(const Water& water, fish::Question question, const std::string& what) {
    Facts first_path;
    for (const screen::SimdPath path : screen::usable_paths()) {
        screen::set_path(path);
        const Facts facts = ask(water, question);
        if (first_path.empty()) first_path = facts;
        expect(same(facts, first_path), what + ": path " + screen::path_name(path) + " gives other bytes");
    }
    screen::set_path(screen::usable_paths()[0]);
    for (std::size_t i = 0; i < water.all(); ++i) {
        const auto fish = static_cast<std::size_t>(water.fish);
        const auto wanted = defined(water, i / fish * fish, i, question);
        for (std::size_t fact = 0; fact < wanted.size(); ++fact) {
            const double came = first_path[i * fish::kFacts + fact];
            expect(std::abs(came - wanted[fact]) <= 1e-5 * (1 + (fact == 0 ? 0 : std::abs(wanted[fact]))),
                   what + ": fact " + std::to_string(fact) + " of fish " + std::to_string(i) + " is " +
                       std::to_string(came) + " and not " + std::to_string(wanted[fact]));
        }
    }
}

void any_size_of_school() {
    for (const int fish : {1, 2, 3, 15, 16, 17, 25, 31, 32, 33, 48, 63, 64, 65, 95, 96, 97, 256, 257, 1000}) {
        const int schools = fish > 500 ? 1 : 3;
        for (const float size : {1.0f, 10.0f, 40.0f}) {
            Water water = disc(schools, fish, size, static_cast<std::uint32_t>(fish));
            for (const int nearest : {1, 7, 25, 5000}) {
                const std::string what = std::to_string(fish) + " fish within " + std::to_string(size) + ", nearest " +
                                         std::to_string(nearest);
                check_definition(water, {3.0f, nearest}, what);
            }
            Random random(7);
            for (std::uint8_t& alive : water.alive) alive = random() % 3 != 0;
            check_definition(water, {3.0f, 4}, std::to_string(fish) + " fish, some dead");
            std::fill(water.alive.begin(), water.alive.end(), std::uint8_t{0});
            const Facts facts = ask(water, {3.0f, 4});
            expect(facts == Facts(facts.size(), 0.0f), "the dead have facts");
        }
    }
}

void odd_places() {
    for (const int fish : {20, 96, 300}) {
        const auto each = static_cast<std::size_t>(fish);
        const std::string number = std::to_string(fish) + " fish ";
        const Water normal = disc(1, fish, 10, 3);
        Water water = normal;
        for (std::size_t i = 0; i < each; ++i) water.put(i, 1.5f, -2.5f);
        check_definition(water, {3.0f, 6}, number + "in one place");
        for (std::size_t i = 0; i < each; ++i) water.put(i, static_cast<float>(i % 7), static_cast<float>(i / 7));
        check_definition(water, {3.0f, 6}, number + "on a lattice, where many are equally near");
        for (std::size_t i = 0; i < each; ++i) water.put(i, normal.positions[2 * i], 4);
        check_definition(water, {3.0f, 6}, number + "in a line");
        for (std::size_t i = 0; i < each; ++i) {
            water.put(i, 1e6f + normal.positions[2 * i], -3e6f + normal.positions[2 * i + 1]);
        }
        check_definition(water, {3.0f, 6}, number + "far out");
        for (std::size_t i = 0; i < each; ++i) water.put(i, 1e-3f * normal.positions[2 * i], i % 2 ? 2.0f : 0.0f);
        check_definition(water, {3.0f, 6}, number + "in two clusters");
        for (const float lost :
             {1e5f, 1e20f, 3e38f, -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
            water = normal;
            water.put(3, lost, 1);
            water.put(5, 1, -lost);
            check_definition(water, {3.0f, 6}, number + "of whom two are lost");
        }
        check_definition(normal, {1e-9f, 6}, number + "that see nothing");
        check_definition(normal, {1e9f, 6}, number + "that see everything");
    }
}

void equal_speeds_do_not_deviate() {
    Water water = disc(2, 96, 5, 11);
    for (std::size_t i = 0; i < water.all(); ++i) {
        // The fish itself is faster; nobody else is.
        water.velocities[2 * i] = i % 96 == 0 ? 9.0f : 0.7f;
        water.velocities[2 * i + 1] = 0;
    }
    const Facts facts = ask(water, {100.0f, 3});
    for (const std::size_t i : {std::size_t{0}, std::size_t{96}}) {
        expect(facts[i * fish::kFacts + 4] == 0.35f, "the mean of equal speeds is another speed");
        expect(facts[i * fish::kFacts + 5] == 0.0f, "equal speeds deviate");
    }
}

void any_number_of_threads() {
    for (const auto& [schools, fish] : {std::pair{40, 25}, std::pair{33, 96}, std::pair{5, 700}}) {
        const Water water = disc(schools, fish, 10, 5);
        const Facts alone = ask(water, {3.0f, 7});
        for (const int threads : {2, 3, 8, 2}) {
            expect(same(ask(water, {3.0f, 7}, threads), alone),
                   std::to_string(threads) + " threads gave other bytes than one");
        }
        for (int school = 0; school < schools; ++school) {
            const Facts part = ask(water.part(school), {3.0f, 7});
            const auto first = static_cast<std::ptrdiff_t>(part.size()) * school;
            expect(std::equal(part.begin(), part.end(), alone.begin() + first), "a school depends on the others");
        }
    }
}

void callers_at_the_same_time() {
    const Water water = disc(20, 60, 10, 6);
    const Facts wanted = ask(water, {3.0f, 7});
    std::array<bool, 3> right{};
    const auto call = [&](std::size_t caller) {
        right[caller] = true;
        const int threads = static_cast<int>(caller) + 1;
        for (int round = 0; round < 20; ++round) right[caller] &= same(ask(water, {3.0f, 7}, threads), wanted);
    };
    std::thread second(call, 1);
    std::thread third(call, 2);
    call(0);
    second.join();
    third.join();
    expect(right[0] && right[1] && right[2], "callers at the same time disturbed each other");
}

void lives_on_in_a_child() {
    const Water water = disc(20, 60, 10, 8);
    const Facts wanted = ask(water, {3.0f, 7}, 2);
    const pid_t child = fork();
    if (child == 0) _exit(same(ask(water, {3.0f, 7}, 2), wanted) ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child of a fork got other bytes");
}

void refuses_what_makes_no_sense() {
    const Water water = disc(2, 4, 10, 9);
    const auto refused = [&](fish::Question question, int threads) {
        try {
            ask(water, question, threads);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    for (const float radius : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
        expect(refused({radius, 3}, 1), "a radius of " + std::to_string(radius));
    }
    expect(refused({3.0f, 0}, 1), "an average of none");
    expect(refused({3.0f, 3}, 0), "no threads");
    expect(ask(disc(0, 4, 10, 1), {3.0f, 3}, 2).empty() && ask(disc(4, 0, 10, 1), {3.0f, 3}, 2).empty(),
           "facts about nobody");
}

void print_speeds() {
    for (const auto& [schools, fish] : {std::pair{512, 25}, std::pair{512, 96}, std::pair{32, 1000}}) {
        const Water water = disc(schools, fish, 10, 2);
        Facts facts(water.all() * fish::kFacts);
        for (const screen::SimdPath path : screen::usable_paths()) {
            screen::set_path(path);
            double best = 1e9;
            for (int round = 0; round < 5; ++round) {
                const auto start = std::chrono::steady_clock::now();
                fish::neighbours(water.view(), {3.0f, 7}, facts.data(), 1);
                best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            }
            std::printf("%4d fish, %-6s: %5.1f million fish/s on one thread\n", fish, screen::path_name(path),
                        static_cast<double>(water.all()) / best / 1e6);
        }
    }
    screen::set_path(screen::usable_paths()[0]);
}

}  // namespace

int main() {
    any_size_of_school();
    odd_places();
    equal_speeds_do_not_deviate();
    any_number_of_threads();
    callers_at_the_same_time();
    lives_on_in_a_child();
    refuses_what_makes_no_sense();
    print_speeds();
    if (failures) std::printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
