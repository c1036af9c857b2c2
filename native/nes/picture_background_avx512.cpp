#if defined(__x86_64__)

#include <immintrin.h>

#include "nes/picture_background.h"

// GCC 12 takes the undefined lanes inside its own intrinsics for a mistake of ours (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

namespace nes {
namespace {

struct Block {
    __m512i lines[8];  // 64 pixels of each line
};

// Two lines of four tiles, one tile in each quarter. Masked broadcasts cost a load and a blend; a transpose would need
// three times as many shuffles.
AVX512 inline __m512i four_tiles(const std::uint8_t* tiles, const std::uint8_t* names, int line) {
    __m128i quarters[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        quarters[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tiles + 64 * names[2 * i] + 8 * line));
    }
    __m512i all = _mm512_castsi128_si512(quarters[0]);
    all = _mm512_mask_broadcast_i32x4(all, 0x00F0, quarters[1]);
    all = _mm512_mask_broadcast_i32x4(all, 0x0F00, quarters[2]);
    return _mm512_mask_broadcast_i32x4(all, 0xF000, quarters[3]);
}

// Four cells: after pairing even and odd tiles, each quarter of a line is one cell, so one byte shuffle whose table
// differs by quarter gives the colours.
AVX512 inline void draw_block(const TileStrip& strip, int cell, __m512i colours, Block& block) {
    const std::uint8_t* names = strip.names + 2 * cell;
    std::int32_t palettes;
    std::memcpy(&palettes, strip.palettes + cell, 4);
    const __m512i quarters = _mm512_set_epi32(24, 24, 24, 24, 16, 16, 16, 16, 8, 8, 8, 8, 0, 0, 0, 0);
    const __m512i table = _mm512_permutexvar_epi32(_mm512_srlv_epi32(_mm512_set1_epi32(palettes), quarters), colours);
#pragma GCC unroll 4
    for (int line = 0; line < 8; line += 2) {
        const __m512i even = four_tiles(strip.tiles, names, line);
        const __m512i odd = four_tiles(strip.tiles, names + 1, line);
        block.lines[line] = _mm512_shuffle_epi8(table, _mm512_unpacklo_epi64(even, odd));
        block.lines[line + 1] = _mm512_shuffle_epi8(table, _mm512_unpackhi_epi64(even, odd));
    }
}

// The cell that is cut by the right edge.
AVX512 inline void draw_last_cell(const TileStrip& strip, int cell, Block& block) {
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
            for (int line = 0; line < 8; ++line) _mm512_storeu_si512(strip.lines[line] + 64 * block, drawn.lines[line]);
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
            _mm512_storeu_si512(strip.lines[line] + 64 * block, shifted);
        }
        left = right;
    }
}

}  // namespace nes

#endif
