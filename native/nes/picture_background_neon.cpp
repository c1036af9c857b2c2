#if defined(__aarch64__)

#include <arm_neon.h>

#include "nes/picture_background.h"

namespace nes {

void draw_strip_neon(const TileStrip& strip) {
    StripPixels pixels;
    const std::uint8_t* names = strip.names + 2 * strip.first_cell();
    const std::uint8_t* palettes = strip.palettes + strip.first_cell();
    for (int cell = 0; cell < kStripCells; ++cell) {
        std::uint32_t colours;
        std::memcpy(&colours, strip.colours + 4 * palettes[cell], 4);
        const uint8x16_t table = vreinterpretq_u8_u32(vdupq_n_u32(colours));
        const std::uint8_t* even = strip.tiles + 64 * names[2 * cell];
        const std::uint8_t* odd = strip.tiles + 64 * names[2 * cell + 1];
        std::uint8_t* out = pixels.lines[0] + kCellPixels * cell;
        for (int line = 0; line < 8; line += 2) {
            const uint64x2_t left = vreinterpretq_u64_u8(vld1q_u8(even + 8 * line));
            const uint64x2_t right = vreinterpretq_u64_u8(vld1q_u8(odd + 8 * line));
            const uint8x16_t upper = vreinterpretq_u8_u64(vzip1q_u64(left, right));
            const uint8x16_t lower = vreinterpretq_u8_u64(vzip2q_u64(left, right));
            vst1q_u8(out + kStripStride * line, vqtbl1q_u8(table, upper));
            vst1q_u8(out + kStripStride * (line + 1), vqtbl1q_u8(table, lower));
        }
    }
    pixels.copy_to(strip);
}

}  // namespace nes

#endif
