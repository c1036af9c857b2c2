#if defined(__x86_64__)

#include <immintrin.h>

#include "nes/picture_background.h"

// GCC 12 takes the undefined lanes inside its own intrinsics for a mistake of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define AVX512_INLINE AVX512 __attribute__((always_inline)) inline

namespace nes {
namespace {

struct Block {
    __m512i lines[8];  // 64 pixels of each line
};

// Four lines of two tiles, one tile in each half.
AVX512_INLINE __m512i two_tiles(const std::uint8_t* left, const std::uint8_t* right) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(left));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(right));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// Every other of eight tiles: two lines of four tiles in each register, one tile in each quarter.
AVX512_INLINE void four_tiles(const std::uint8_t* tiles, const std::uint8_t* names, __m512i* pairs) {
    const std::uint8_t* from[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) from[i] = tiles + 64 * names[2 * i];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        const __m512i left = two_tiles(from[0] + 32 * half, from[1] + 32 * half);
        const __m512i right = two_tiles(from[2] + 32 * half, from[3] + 32 * half);
        pairs[2 * half] = _mm512_shuffle_i32x4(left, right, 0x88);
        pairs[2 * half + 1] = _mm512_shuffle_i32x4(left, right, 0xDD);
    }
}

// Four cells: after pairing even and odd tiles, each quarter of a line is one cell, so one byte shuffle whose table
// differs by quarter gives the colours.
AVX512_INLINE void draw_block(const TileStrip& strip, int cell, __m512i colours, Block& block) {
    const std::uint8_t* names = strip.names + 2 * cell;
    std::int32_t palettes;
    std::memcpy(&palettes, strip.palettes + cell, 4);
    const __m512i quarters = _mm512_set_epi32(24, 24, 24, 24, 16, 16, 16, 16, 8, 8, 8, 8, 0, 0, 0, 0);
    const __m512i table = _mm512_permutexvar_epi32(_mm512_srlv_epi32(_mm512_set1_epi32(palettes), quarters), colours);
    __m512i even[4];
    __m512i odd[4];
    four_tiles(strip.tiles, names, even);
    four_tiles(strip.tiles, names + 1, odd);
#pragma GCC unroll 4
    for (int pair = 0; pair < 4; ++pair) {
        const __m512i upper = _mm512_unpacklo_epi64(even[pair], odd[pair]);
        const __m512i lower = _mm512_unpackhi_epi64(even[pair], odd[pair]);
        block.lines[2 * pair] = _mm512_shuffle_epi8(table, upper);
        block.lines[2 * pair + 1] = _mm512_shuffle_epi8(table, lower);
    }
}

// The cell that is cut by the right edge.
AVX512_INLINE void draw_last_cell(const TileStrip& strip, int cell, Block& block) {
    const std::uint8_t* even = strip.tiles + 64 * strip.names[2 * cell];
    const std::uint8_t* odd = strip.tiles + 64 * strip.names[2 * cell + 1];
    std::int32_t colours;
    std::memcpy(&colours, strip.colours + 4 * strip.palettes[cell], 4);
    const __m128i table = _mm_cvtsi32_si128(colours);
#pragma GCC unroll 4
    for (int line = 0; line < 8; line += 2) {
        const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(even + 8 * line));
        const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(odd + 8 * line));
        const __m128i upper = _mm_shuffle_epi8(table, _mm_unpacklo_epi64(left, right));
        const __m128i lower = _mm_shuffle_epi8(table, _mm_unpackhi_epi64(left, right));
        block.lines[line] = _mm512_castsi128_si512(upper);
        block.lines[line + 1] = _mm512_castsi128_si512(lower);
    }
}

}  // namespace

AVX512 void draw_strip_avx512(const TileStrip& strip) {
    const __m512i colours = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(strip.colours)));
    const int first = strip.first_cell();
    if (strip.offset() == 0) {
        for (int block = 0; block < 4; ++block) {
            Block drawn;
            draw_block(strip, first + 4 * block, colours, drawn);
#pragma GCC unroll 8
            for (int line = 0; line < 8; ++line)
                _mm512_storeu_si512(strip.out + kScreenWidth * line + 64 * block, drawn.lines[line]);
        }
        return;
    }
    alignas(64) static constexpr std::uint8_t kCounting[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i shift =
        _mm512_add_epi8(_mm512_load_si512(kCounting), _mm512_set1_epi8(static_cast<char>(strip.offset())));
    Block left;
    draw_block(strip, first, colours, left);
#pragma GCC unroll 4
    for (int block = 0; block < 4; ++block) {
        Block right;
        if (block < 3) {
            draw_block(strip, first + 4 * (block + 1), colours, right);
        } else {
            draw_last_cell(strip, first + 16, right);
        }
#pragma GCC unroll 8
        for (int line = 0; line < 8; ++line) {
            const __m512i shifted = _mm512_permutex2var_epi8(left.lines[line], shift, right.lines[line]);
            _mm512_storeu_si512(strip.out + kScreenWidth * line + 64 * block, shifted);
        }
        left = right;
    }
}

}  // namespace nes

#endif
