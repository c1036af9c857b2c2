// What happens in the tanks of many schools in a step: the fish swim, the predators fall and catch, the living sense
// and are paid. Every sum, product, quotient and root is rounded to float on its own, in the order of the Python code
// in respawn/worlds/fish (physics.py, predator.py, senses.py, rewards.py): the same bytes for any number of threads, on
// any SIMD path and whatever the other schools do. All throw std::invalid_argument with one sentence.
#pragma once

#include <cstdint>

namespace fish {

constexpr int kOwnSenses = 11;

// Arrays of the caller, without gaps.
struct Tanks {
    int schools;
    int fish;              // of each school
    float* swimmers;       // x, y, vx, vy, each for all fish, school by school
    float* predators;      // x, y, vx, vy, each for all schools
    std::uint8_t* alive;   // of each fish
    float* distance;       // of each fish from its predator
    std::uint8_t* caught;  // in this step
};

// One of these for each fish.
struct Orders {
    const std::int64_t* actions;  // 0 forward, 1 left, 2 right, 3 brake; others coast
    const float* turns_efforts;   // both from -1 to 1, taken if there are no actions
};

// Moves the living and the predators; then writes the distances, of the dead too, and who is caught, who no longer
// lives.
void step(const Tanks& tanks, const Orders& orders, int threads);

struct Senses {
    float* out;          // `values` numbers of each fish
    int values;          // kOwnSenses or more, with `facts` kFacts more
    const float* facts;  // of neighbours(), or none
    float full;          // neighbours that make a full neighbourhood
};

// Writes the first kOwnSenses numbers of each fish, zeros for the dead; with facts also those, the number of neighbours
// as a share of a full neighbourhood, at most 1. Needs no `caught`, and changes none of the tanks.
void sense(const Tanks& tanks, const Senses& senses, int threads);

struct Prices {
    float alive, sight, out_of_sight, reach, wall, scale, death;
    bool smooth;
    // For neighbours: in what number they make a full neighbourhood, what share of it is free, what each further one
    // costs, what swimming away earns.
    float crowd_count, crowd_target, crowd, divergence;
};

// Writes what each fish is paid: the living for where they are, with `facts` of neighbours() also for who is there, and
// the caught for that. Needs no predators, and changes none of the tanks.
void pay(const Tanks& tanks, const Prices& prices, const float* facts, float* out, int threads);

struct Tally {
    const float* reward;        // of each fish
    const std::int32_t* steps;  // of each school since its episode began
    std::int32_t* death_steps;  // of each fish, written where it is caught
    double* rewards;            // of each school: the sum over its fish, in their order
    std::int64_t* living;       // of each school: how many
};

// Needs `alive` and `caught` alone.
void tally(const Tanks& tanks, const Tally& tally, int threads);

}  // namespace fish
