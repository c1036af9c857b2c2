#if defined(__x86_64__)

#include <immintrin.h>

#include "nes/picture_background.h"

#define AVX2 __attribute__((target("avx2")))

namespace nes {
namespace {

AVX2 inline __m256i two_tiles(const std::uint8_t* left, const std::uint8_t* right) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128(reinterpret_cast<const __m128i*>(right)), 1);
}

}  // namespace

AVX2 void draw_strip_avx2(const TileStrip& strip) {
    StripPixels pixels;
    const std::uint8_t* names = strip.names + 2 * strip.first_cell();
    const std::uint8_t* palettes = strip.palettes + strip.first_cell();
    // Two cells at a time, one in each half of a register, each half with the four colours of its own palette.
    for (int cell = 0; cell < kStripCells; cell += 2) {
        const int next = cell + 1 < kStripCells ? cell + 1 : cell;
        const std::uint8_t* tiles[4] = {strip.tiles + 64 * names[2 * cell], strip.tiles + 64 * names[2 * cell + 1],
                                        strip.tiles + 64 * names[2 * next], strip.tiles + 64 * names[2 * next + 1]};
        std::int32_t colours[2];
        std::memcpy(&colours[0], strip.colours + 4 * palettes[cell], 4);
        std::memcpy(&colours[1], strip.colours + 4 * palettes[next], 4);
        const __m256i table = _mm256_set_m128i(_mm_cvtsi32_si128(colours[1]), _mm_cvtsi32_si128(colours[0]));
        std::uint8_t* out = pixels.lines[0] + kCellPixels * cell;
        for (int line = 0; line < 8; line += 2) {
            const __m256i even = two_tiles(tiles[0] + 8 * line, tiles[2] + 8 * line);
            const __m256i odd = two_tiles(tiles[1] + 8 * line, tiles[3] + 8 * line);
            const __m256i upper = _mm256_shuffle_epi8(table, _mm256_unpacklo_epi64(even, odd));
            const __m256i lower = _mm256_shuffle_epi8(table, _mm256_unpackhi_epi64(even, odd));
            _mm256_store_si256(reinterpret_cast<__m256i*>(out + kStripStride * line), upper);
            _mm256_store_si256(reinterpret_cast<__m256i*>(out + kStripStride * (line + 1)), lower);
        }
    }
    for (int line = 0; line < 8; ++line) {
        const std::uint8_t* from = pixels.lines[line] + strip.offset();
        for (int x = 0; x < kScreenWidth; x += 32) {
            const __m256i piece = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + x));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(strip.out + kScreenWidth * line + x), piece);
        }
    }
}

}  // namespace nes

#endif
