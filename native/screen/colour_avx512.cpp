#if defined(__x86_64__)

#include <immintrin.h>

#include "nes/types.h"
#include "screen/colour_table.h"

// GCC 12 takes the undefined lanes inside its own intrinsics for a mistake of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define AVX512_INLINE AVX512 __attribute__((always_inline)) inline

namespace screen {
namespace {

// Byte i of the 192 bytes of 64 pixels is channel i % 3 of pixel i / 3. For each third of them: where the reds and the
// greens lie (greens from 64 on), where the blues lie, and which bytes are blue.
struct Weave {
    alignas(64) std::uint8_t red_green[3][64];
    alignas(64) std::uint8_t blue[3][64];
    std::uint64_t is_blue[3];
};

constexpr Weave weave() {
    Weave result{};
    for (int i = 0; i < 192; ++i) {
        const int pixel = i / 3;
        const int channel = i % 3;
        result.red_green[i / 64][i % 64] = static_cast<std::uint8_t>(channel == 1 ? 64 + pixel : pixel);
        result.blue[i / 64][i % 64] = static_cast<std::uint8_t>(pixel);
        if (channel == 2) result.is_blue[i / 64] |= std::uint64_t{1} << i % 64;
    }
    return result;
}

constexpr Weave kWeave = weave();

AVX512_INLINE __m512i channel(const ColourTable& table, int plane, __m512i pixels) {
    return _mm512_permutexvar_epi8(pixels, _mm512_load_si512(table.planes[plane]));
}

}  // namespace

AVX512 void write_rgb_line_avx512(const ColourTable& table, const std::uint8_t* pixels, const ColourTable* other_table,
                                  const std::uint8_t* other, std::uint8_t* out) {
    for (int x = 0; x < nes::kScreenWidth; x += 64) {
        const __m512i here = _mm512_loadu_si512(pixels + x);
        __m512i planes[3];
        for (int plane = 0; plane < 3; ++plane) planes[plane] = channel(table, plane, here);
        if (other != nullptr) {
            const __m512i there = _mm512_loadu_si512(other + x);
            for (int plane = 0; plane < 3; ++plane) {
                planes[plane] = _mm512_max_epu8(planes[plane], channel(*other_table, plane, there));
            }
        }
        for (int third = 0; third < 3; ++third, out += 64) {
            const __m512i red_green =
                _mm512_permutex2var_epi8(planes[0], _mm512_load_si512(kWeave.red_green[third]), planes[1]);
            const __m512i all = _mm512_mask_permutexvar_epi8(red_green, kWeave.is_blue[third],
                                                             _mm512_load_si512(kWeave.blue[third]), planes[2]);
            _mm512_storeu_si512(out, all);
        }
    }
}

}  // namespace screen

#endif
