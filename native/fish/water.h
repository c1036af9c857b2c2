// Schools of tank.h that follow each other, and the SIMD paths that serve them. Internal to fish/.
#pragma once

#include <cstdint>

#include "fish/tank.h"

namespace fish {

// Each pointer is to what belongs to the first of them.
struct Stretch {
    int count;
    int fish;  // of each school
    float *x, *y, *vx, *vy;
    float *predator_x, *predator_y, *predator_vx, *predator_vy;
    std::uint8_t* alive;
    float* distance;
    std::uint8_t* caught;
};

struct SwimPath {
    void (*step)(const Stretch& schools, const Orders& orders);
    void (*sense)(const Stretch& schools, const Senses& senses);
    void (*pay)(const Stretch& schools, const Prices& prices, const float* facts, float* out);
};

extern const SwimPath kSwimPlain;
extern const SwimPath kSwimAvx2;
extern const SwimPath kSwimAvx512;

}  // namespace fish
