#include "nes/picture_background.h"
#include "nes/picture_swar.h"

namespace nes {

void draw_strip_plain(const TileStrip& strip) {
    StripPixels pixels;
    const std::uint8_t* names = strip.names + 2 * strip.first_cell();
    const std::uint8_t* palettes = strip.palettes + strip.first_cell();
    for (int cell = 0; cell < kStripCells; ++cell) {
        const FourColours colours(strip.colours + 4 * palettes[cell]);
        for (int half = 0; half < 2; ++half) {
            const std::uint8_t* tile = strip.tiles + 64 * names[2 * cell + half];
            for (int line = 0; line < 8; ++line) {
                store_pixels(pixels.lines[line] + kCellPixels * cell + 8 * half, colours(load_pixels(tile + 8 * line)));
            }
        }
    }
    pixels.copy_to(strip);
}

}  // namespace nes
