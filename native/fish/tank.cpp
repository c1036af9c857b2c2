#include "fish/tank.h"

#include <algorithm>
#include <cstddef>

#include "fish/crew.h"
#include "fish/neighbours.h"
#include "fish/water.h"
#include "screen/simd.h"

namespace fish {

namespace {

// Fish, some hundreds of microseconds of work: where cores are busy, threads that are woken for less are waited for
// longer than that.
constexpr int kSharedFrom = 1 << 17;
constexpr int kFishAtOnce = 1024;  // whole vectors of them, and all they need stays in the first cache

const SwimPath& current_swim() {
#if defined(__x86_64__)
    const screen::SimdPath path = screen::current_path();
    if (path == screen::SimdPath::avx512) return kSwimAvx512;
    if (path == screen::SimdPath::avx2) return kSwimAvx2;
#endif
    return kSwimPlain;
}

std::ptrdiff_t fish_of(const Tanks& tanks, int schools) { return static_cast<std::ptrdiff_t>(tanks.fish) * schools; }

Stretch stretch_of(const Tanks& tanks, int school, int count) {
    const std::ptrdiff_t first = fish_of(tanks, school);
    const std::ptrdiff_t plane = fish_of(tanks, tanks.schools);
    Stretch stretch{};
    stretch.count = count;
    stretch.fish = tanks.fish;
    stretch.alive = tanks.alive + first;
    // Not every call needs all of them.
    if (tanks.distance) stretch.distance = tanks.distance + first;
    if (tanks.caught) stretch.caught = tanks.caught + first;
    if (tanks.swimmers) {
        stretch.x = tanks.swimmers + first;
        stretch.y = stretch.x + plane;
        stretch.vx = stretch.y + plane;
        stretch.vy = stretch.vx + plane;
    }
    if (tanks.predators) {
        const std::ptrdiff_t schools = tanks.schools;
        stretch.predator_x = tanks.predators + school;
        stretch.predator_y = stretch.predator_x + schools;
        stretch.predator_vx = stretch.predator_y + schools;
        stretch.predator_vy = stretch.predator_vx + schools;
    }
    return stretch;
}

// Calls work(schools, number of the first, fish before it) until all schools have had their turn.
template <class Work>
void share(const Tanks& tanks, int threads, Work work) {
    check_sizes(tanks.schools, tanks.fish, threads);
    const int at_once = kFishAtOnce / std::clamp(tanks.fish, 1, kFishAtOnce);
    auto of_stretch = [&](int number, int) {
        const int school = number * at_once;
        const int count = std::min(at_once, tanks.schools - school);
        work(stretch_of(tanks, school, count), school, fish_of(tanks, school));
    };
    const int stretches = (tanks.schools + at_once - 1) / at_once;
    share_work(stretches, worth_waking(threads, tanks.schools, tanks.fish, kSharedFrom), of_stretch);
}

}  // namespace

void step(const Tanks& tanks, const Orders& orders, int threads) {
    const SwimPath& path = current_swim();
    share(tanks, threads, [&](const Stretch& schools, int, std::ptrdiff_t before) {
        path.step(schools, {orders.actions ? orders.actions + before : nullptr,
                            orders.turns_efforts ? orders.turns_efforts + 2 * before : nullptr});
    });
}

void sense(const Tanks& tanks, const Senses& senses, int threads) {
    const int least = senses.facts ? kOwnSenses + kFacts : kOwnSenses;
    check_number("the numbers of each fish in out", senses.values, least, INT32_MAX);
    const SwimPath& path = current_swim();
    share(tanks, threads, [&](const Stretch& schools, int, std::ptrdiff_t before) {
        path.sense(schools, {senses.out + before * senses.values, senses.values,
                             senses.facts ? senses.facts + before * kFacts : nullptr, senses.full});
    });
}

void pay(const Tanks& tanks, const Prices& prices, const float* facts, float* out, int threads) {
    const SwimPath& path = current_swim();
    share(tanks, threads, [&](const Stretch& schools, int, std::ptrdiff_t before) {
        path.pay(schools, prices, facts ? facts + before * kFacts : nullptr, out + before);
    });
}

void tally(const Tanks& tanks, const Tally& tally, int threads) {
    share(tanks, threads, [&](const Stretch& schools, int first_school, std::ptrdiff_t before) {
        for (int school = 0; school < schools.count; ++school) {
            const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(school) * schools.fish;
            const int number = first_school + school;
            const std::uint8_t* const alive = schools.alive + first;
            const std::uint8_t* const caught = schools.caught + first;
            std::int32_t* const death_steps = tally.death_steps + before + first;
            const std::int32_t now = tally.steps[number];
            int living = 0;
            for (int i = 0; i < schools.fish; ++i) living += alive[i] != 0;
            for (int i = 0; i < schools.fish; ++i) death_steps[i] = caught[i] != 0 ? now : death_steps[i];
            double sum = 0;
            for (int i = 0; i < schools.fish; ++i) sum += static_cast<double>(tally.reward[before + first + i]);
            tally.rewards[number] = sum;
            tally.living[number] = living;
        }
    });
}

}  // namespace fish
