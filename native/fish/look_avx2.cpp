#if defined(__x86_64__)

#include <immintrin.h>

#include <limits>

#define FISH_TARGET __attribute__((target("avx2")))
#define FISH_INLINE FISH_TARGET __attribute__((always_inline)) inline

namespace fish {
namespace {

struct Lanes {
    static constexpr int kWidth = 8;
    using Vector = __m256;
    using Mask = __m256;  // all bits of a lane or none
    using Count = __m256i;

    FISH_INLINE static Vector all(float value) { return _mm256_set1_ps(value); }
    FISH_INLINE static Vector nan() { return all(std::numeric_limits<float>::quiet_NaN()); }
    FISH_INLINE static Vector load(const float* from) { return _mm256_load_ps(from); }
    FISH_INLINE static void store(float* to, Vector a) { _mm256_store_ps(to, a); }

    FISH_INLINE static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
    FISH_INLINE static Vector sub(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
    FISH_INLINE static Vector mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
    FISH_INLINE static Vector div(Vector a, Vector b) { return _mm256_div_ps(a, b); }
    FISH_INLINE static Vector sqrt(Vector a) { return _mm256_sqrt_ps(a); }
    FISH_INLINE static Vector min(Vector a, Vector b) { return _mm256_min_ps(a, b); }
    FISH_INLINE static Vector max(Vector a, Vector b) { return _mm256_max_ps(a, b); }

    FISH_INLINE static Mask less(Vector a, Vector b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
    FISH_INLINE static Mask at_most(Vector a, Vector b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
    FISH_INLINE static Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
    FISH_INLINE static Mask either(Mask a, Mask b) { return _mm256_or_ps(a, b); }
    FISH_INLINE static Mask without(Mask a, int lane) {
        const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(lanes, _mm256_set1_epi32(lane))), a);
    }
    FISH_INLINE static bool has(Mask a, int lane) { return (_mm256_movemask_ps(a) >> lane & 1) != 0; }
    FISH_INLINE static bool any(Mask a) { return _mm256_movemask_ps(a) != 0; }

    FISH_INLINE static Vector where(Mask mask, Vector a, Vector b) { return _mm256_blendv_ps(b, a, mask); }
    // A sum that began with 0 is never -0, so that adding 0 leaves it as it is.
    FISH_INLINE static Vector add_where(Mask mask, Vector a, Vector b) { return add(a, _mm256_and_ps(mask, b)); }

    FISH_INLINE static Count none() { return _mm256_setzero_si256(); }
    FISH_INLINE static Count count_where(Mask mask, Count a) { return _mm256_sub_epi32(a, _mm256_castps_si256(mask)); }
    FISH_INLINE static Vector number(Count a) { return _mm256_cvtepi32_ps(a); }
};

}  // namespace
}  // namespace fish

#include "fish/look.h"

namespace fish {

FISH_TARGET void look_avx2(Shoal& shoal, const Question& question, float* out) { look(shoal, question, out); }

}  // namespace fish

#endif
