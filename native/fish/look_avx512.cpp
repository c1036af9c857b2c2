#if defined(__x86_64__)

#include <immintrin.h>

#include <limits>

#define FISH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define FISH_INLINE FISH_TARGET __attribute__((always_inline)) inline

namespace fish {
namespace {

struct Lanes {
    static constexpr int kWidth = 16;
    using Vector = __m512;
    using Mask = __mmask16;
    using Count = __m512i;
    // Some functions are asked to zero no lane at all: gcc 12 warns of what their plain forms leave undefined.
    static constexpr Mask kAll = 0xFFFF;

    FISH_INLINE static Vector all(float value) { return _mm512_set1_ps(value); }
    FISH_INLINE static Vector nan() { return all(std::numeric_limits<float>::quiet_NaN()); }
    FISH_INLINE static Vector load(const float* from) { return _mm512_load_ps(from); }
    FISH_INLINE static void store(float* to, Vector a) { _mm512_store_ps(to, a); }

    FISH_INLINE static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
    FISH_INLINE static Vector sub(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
    FISH_INLINE static Vector mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
    FISH_INLINE static Vector div(Vector a, Vector b) { return _mm512_div_ps(a, b); }
    FISH_INLINE static Vector sqrt(Vector a) { return _mm512_maskz_sqrt_ps(kAll, a); }
    FISH_INLINE static Vector min(Vector a, Vector b) { return _mm512_maskz_min_ps(kAll, a, b); }
    FISH_INLINE static Vector max(Vector a, Vector b) { return _mm512_maskz_max_ps(kAll, a, b); }

    FISH_INLINE static Mask less(Vector a, Vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
    FISH_INLINE static Mask at_most(Vector a, Vector b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
    FISH_INLINE static Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
    FISH_INLINE static Mask either(Mask a, Mask b) { return static_cast<Mask>(a | b); }
    FISH_INLINE static Mask without(Mask a, int lane) { return static_cast<Mask>(a & ~(1u << lane)); }
    FISH_INLINE static bool has(Mask a, int lane) { return (a >> lane & 1) != 0; }
    FISH_INLINE static bool any(Mask a) { return a != 0; }

    FISH_INLINE static Vector where(Mask mask, Vector a, Vector b) { return _mm512_mask_blend_ps(mask, b, a); }
    FISH_INLINE static Vector add_where(Mask mask, Vector a, Vector b) { return _mm512_mask_add_ps(a, mask, a, b); }

    FISH_INLINE static Count none() { return _mm512_setzero_si512(); }
    FISH_INLINE static Count count_where(Mask mask, Count a) {
        return _mm512_mask_add_epi32(a, mask, a, _mm512_set1_epi32(1));
    }
    FISH_INLINE static Vector number(Count a) { return _mm512_maskz_cvtepi32_ps(kAll, a); }
};

}  // namespace
}  // namespace fish

#include "fish/look.h"

namespace fish {

FISH_TARGET void look_avx512(Shoal& shoal, const Question& question, float* out) { look(shoal, question, out); }

}  // namespace fish

#endif
