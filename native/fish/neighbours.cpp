#include "fish/neighbours.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "fish/crew.h"
#include "fish/shoal.h"
#include "screen/simd.h"

namespace fish {

namespace {

constexpr int kSharedFrom = 512;  // fish, some 40 microseconds of work

void check(const Schools& schools, const Question& question, int threads) {
    check_sizes(schools.count, schools.fish, threads);
    check_number("average_count", question.average_count, 1, kMostFish);
    if (!(question.radius >= kLeastRadius && question.radius <= kMostRadius)) {
        throw std::invalid_argument("radius must be a number from 1e-15 to 1e15, but is " +
                                    std::to_string(question.radius));
    }
}

Look current_look() {
#if defined(__x86_64__)
    const screen::SimdPath path = screen::current_path();
    if (path == screen::SimdPath::avx512) return look_avx512;
    if (path == screen::SimdPath::avx2) return look_avx2;
#endif
    return look_plain;
}

// One call, shared by its threads.
struct Job {
    const Schools& schools;
    const Question& question;
    float* out;
    Look look;
    std::vector<Shoal> shoals;  // one for each thread

    void operator()(int school, int thread) {
        const auto fish = static_cast<std::size_t>(schools.fish);
        const std::size_t first = static_cast<std::size_t>(school) * fish;
        float* const facts = out + first * kFacts;
        std::fill(facts, facts + fish * kFacts, 0.0f);
        Shoal& shoal = shoals[static_cast<std::size_t>(thread)];
        shoal.take(schools, school, question.radius);
        look(shoal, question, facts);
    }
};

}  // namespace

void neighbours(const Schools& schools, const Question& question, float* out, int threads) {
    check(schools, question, threads);
    threads = worth_waking(threads, schools.count, schools.fish, kSharedFrom);
    Job job{schools, question, out, current_look(), {}};
    for (int thread = 0; thread < threads; ++thread) job.shoals.emplace_back(schools.fish);
    share_work(schools.count, threads, job);
}

}  // namespace fish
