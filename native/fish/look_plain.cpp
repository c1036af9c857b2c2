// Four lanes, which every processor of ours has: SSE2 or NEON, chosen by the compiler.
#include <cstdint>
#include <cstring>
#include <limits>

#define FISH_TARGET
#define FISH_INLINE __attribute__((always_inline)) inline

namespace fish {
namespace {

struct Lanes {
    static constexpr int kWidth = 4;
    using Vector = float __attribute__((vector_size(16)));
    using Mask = std::int32_t __attribute__((vector_size(16)));  // all bits of a lane or none
    using Count = Mask;

    FISH_INLINE static Vector all(float value) { return Vector{value, value, value, value}; }
    FISH_INLINE static Vector nan() { return all(std::numeric_limits<float>::quiet_NaN()); }
    FISH_INLINE static Vector load(const float* from) {
        Vector a;
        std::memcpy(&a, from, sizeof a);
        return a;
    }
    FISH_INLINE static void store(float* to, Vector a) { std::memcpy(to, &a, sizeof a); }

    FISH_INLINE static Vector add(Vector a, Vector b) { return a + b; }
    FISH_INLINE static Vector sub(Vector a, Vector b) { return a - b; }
    FISH_INLINE static Vector mul(Vector a, Vector b) { return a * b; }
    FISH_INLINE static Vector div(Vector a, Vector b) { return a / b; }
    FISH_INLINE static Vector sqrt(Vector a) {
        return Vector{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3])};
    }
    FISH_INLINE static Vector min(Vector a, Vector b) { return where(a < b, a, b); }
    FISH_INLINE static Vector max(Vector a, Vector b) { return where(a > b, a, b); }

    FISH_INLINE static Mask less(Vector a, Vector b) { return a < b; }
    FISH_INLINE static Mask at_most(Vector a, Vector b) { return a <= b; }
    FISH_INLINE static Mask both(Mask a, Mask b) { return a & b; }
    FISH_INLINE static Mask either(Mask a, Mask b) { return a | b; }
    FISH_INLINE static Mask without(Mask a, int lane) { return a & (Mask{0, 1, 2, 3} != Mask{lane, lane, lane, lane}); }
    FISH_INLINE static bool has(Mask a, int lane) { return a[lane] != 0; }
    FISH_INLINE static bool any(Mask a) {
        std::int64_t halves[2];
        std::memcpy(halves, &a, sizeof halves);
        return (halves[0] | halves[1]) != 0;
    }

    FISH_INLINE static Vector where(Mask mask, Vector a, Vector b) {
        return Vector((Mask(a) & mask) | (Mask(b) & ~mask));
    }
    // A sum that began with 0 is never -0, so that adding 0 leaves it as it is.
    FISH_INLINE static Vector add_where(Mask mask, Vector a, Vector b) { return a + Vector(Mask(b) & mask); }

    FISH_INLINE static Count none() { return Count{0, 0, 0, 0}; }
    FISH_INLINE static Count count_where(Mask mask, Count a) { return a - mask; }
    FISH_INLINE static Vector number(Count a) { return __builtin_convertvector(a, Vector); }
};

}  // namespace
}  // namespace fish

#include "fish/look.h"

namespace fish {

void look_plain(Shoal& shoal, const Question& question, float* out) { look(shoal, question, out); }

}  // namespace fish
