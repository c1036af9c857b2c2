// Checks every drawing and resizing path against the slow reference, and prints how long each takes.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "nes/palette.h"
#include "nes/picture.h"
#include "screen/colour.h"
#include "screen/grey.h"
#include "screen/simd.h"
#include "tests/screen_reference.h"

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
    if (right) return;
    ++failures;
    if (failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

using Random = std::mt19937;

int below(Random& random, int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); }

// Everything a scene points at.
struct World {
    std::array<std::uint8_t, 8192> chr;
    std::array<nes::TilePixels, nes::kTiles> tiles;
    std::array<std::array<std::uint8_t, 1024>, 4> pages;
    std::array<std::uint8_t, 256> oam;
    std::array<std::uint8_t, 32> palette;
    nes::Scene scene;
    std::uint16_t scroll;
    nes::Picture drawn;
    nes::Picture wanted;
};

void randomise(World& world, Random& random) {
    const bool sparse = below(random, 2) == 0;  // mostly transparent tiles make priorities matter
    for (auto& byte : world.chr) byte = static_cast<std::uint8_t>(sparse ? random() & random() & random() : random());
    nes::decode_tiles(world.chr.data(), world.tiles.data());
    for (auto& page : world.pages) {
        for (auto& byte : page) byte = static_cast<std::uint8_t>(random());
    }
    const int crowd = below(random, 3);  // 0: anywhere, 1: many in a few lines, 2: all over each other
    for (int i = 0; i < 64; ++i) {
        std::uint8_t* sprite = &world.oam[4 * i];
        sprite[0] = static_cast<std::uint8_t>(crowd == 0 ? random() : 100 + random() % (crowd == 1 ? 40 : 12));
        sprite[1] = static_cast<std::uint8_t>(random());
        sprite[2] = static_cast<std::uint8_t>(random());
        sprite[3] = static_cast<std::uint8_t>(crowd == 2 ? random() % 24 : random());
        if (below(random, 8) == 0) sprite[3] = static_cast<std::uint8_t>(240 + random() % 16);
    }
    for (auto& byte : world.palette) byte = static_cast<std::uint8_t>(random() & 63);
    for (int i = 0; i < 16; i += 4) world.palette[16 + i] = world.palette[i];
    const int shift = below(random, 4);
    for (int i = 0; i < 4; ++i) world.scene.nametables[i] = world.pages[(i * shift) & 3].data();
    world.scene.tiles = world.tiles.data();
    world.scene.oam = world.oam.data();
    world.scene.palette = world.palette.data();
    world.scene.control = static_cast<std::uint8_t>(random());
    world.scene.mask = static_cast<std::uint8_t>(random() | (below(random, 4) ? 0x18 : 0));
    world.scene.fine_x = static_cast<std::uint8_t>(below(random, 3) ? below(random, 8) : 0);
    world.scene.address = static_cast<std::uint16_t>(random() & 0x7FFF);
    if (below(random, 8) == 0) world.scene.address = static_cast<std::uint16_t>(0x3F00 | (random() & 0xFF));
    world.scroll = static_cast<std::uint16_t>(below(random, 2) ? world.scene.address : random() & 0x7FFF);
    for (int i = 0; i < 64; ++i) world.drawn.shades[i] = static_cast<std::uint8_t>(i * 37 + 11);  // all different
    world.wanted.shades = world.drawn.shades;
}

void clear(nes::Picture& picture) {
    picture.pixels.fill(0xA5);
    picture.emphasis.fill(0x5A);
}

bool same(const nes::Picture& a, const nes::Picture& b) { return a.pixels == b.pixels && a.emphasis == b.emphasis; }

std::string situation(const char* what, screen::SimdPath path, int round, const World& world) {
    char text[200];
    std::snprintf(text, sizeof text, "%s, path %s, round %d, control %02x, mask %02x, fine x %d, address %04x", what,
                  screen::path_name(path), round, world.scene.control, world.scene.mask, world.scene.fine_x,
                  world.scene.address);
    return text;
}

void check_tiles() {
    std::array<std::uint8_t, 8192> chr;
    for (std::size_t i = 0; i < chr.size(); ++i) chr[i] = static_cast<std::uint8_t>(i * 89 + i / 256);
    std::array<nes::TilePixels, nes::kTiles> tiles;
    nes::decode_tiles(chr.data(), tiles.data());
    bool right = true;
    for (int tile = 0; tile < nes::kTiles; ++tile) {
        for (int i = 0; i < 64; ++i) right &= tiles[tile][i] == reference::tile_pixel(chr.data(), tile, i / 8, i % 8);
    }
    expect(right, "decode_tiles gives the pixels of the two bit planes");
}

void check_bands(int rounds) {
    Random random(1);
    auto world = std::make_unique<World>();
    for (int round = 0; round < rounds; ++round) {
        randomise(*world, random);
        const bool whole = below(random, 3) == 0;
        const int first = whole ? 0 : below(random, 240);
        const int last = whole ? 240 : first + 1 + below(random, 240 - first);
        clear(world->wanted);
        reference::draw_lines(world->scene, world->chr.data(), world->scroll, first, last, world->wanted);
        for (const screen::SimdPath path : screen::usable_paths()) {
            screen::set_path(path);
            clear(world->drawn);
            nes::draw_lines(world->scene, world->scroll, first, last, world->drawn);
            expect(same(world->drawn, world->wanted), situation("draw_lines", path, round, *world));
        }
    }
}

void check_spans(int rounds) {
    Random random(2);
    auto world = std::make_unique<World>();
    for (int round = 0; round < rounds; ++round) {
        randomise(*world, random);
        clear(world->wanted);
        clear(world->drawn);
        for (int line = below(random, 8); line < 240; line += 1 + below(random, 8)) {
            const int x0 = below(random, 256);
            const int x1 = x0 + 1 + below(random, 256 - x0);
            const int first_tile = below(random, 2) ? 0 : below(random, 34);
            for (int x = x0; x < x1; ++x) {
                reference::draw_pixel(world->scene, world->chr.data(), world->scene.address, line, x, first_tile,
                                      world->wanted);
            }
            nes::draw_span(world->scene, line, x0, x1, first_tile, world->drawn);
        }
        expect(same(world->drawn, world->wanted), situation("draw_span", screen::current_path(), round, *world));
    }
}

void check_resize() {
    Random random(3);
    std::vector<std::uint8_t> pixels(screen::kPixels);
    std::vector<std::uint8_t> other(screen::kPixels);
    const int sizes[][2] = {{84, 84},   {240, 256}, {1, 1},    {64, 64},   {96, 96},   {80, 80},
                            {128, 128}, {84, 86},   {77, 100}, {239, 255}, {97, 83},   {1024, 1024},
                            {7, 512},   {241, 258}, {1, 1024}, {1024, 1},  {120, 128}, {60, 64},
                            {30, 32},   {480, 512}, {63, 66},  {84, 254},  {210, 160}, {72, 72},
                            {42, 42},   {84, 127},  {84, 130}, {84, 190},  {84, 320}};
    for (const auto& size : sizes) {
        const int height = size[0];
        const int width = size[1];
        const screen::GreyResizer resizer(height, width);
        for (int round = 0; round < 4; ++round) {
            for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(round == 0 ? 255 : random());
            for (auto& pixel : other) pixel = static_cast<std::uint8_t>(random() >> (round == 3 ? 1 : 0));
            const std::uint8_t* second = round >= 2 ? other.data() : nullptr;
            const auto wanted = reference::resized(pixels.data(), second, height, width);
            for (const screen::SimdPath path : screen::usable_paths()) {
                screen::set_path(path);
                std::vector<std::uint8_t> out(wanted.size() + 128, 0xA5);
                resizer.resize(pixels.data(), second, out.data());
                const std::string what = std::string("resize to ") + std::to_string(height) + "x" +
                                         std::to_string(width) + ", path " + screen::path_name(path) +
                                         (second ? ", larger of two" : "");
                expect(std::memcmp(out.data(), wanted.data(), wanted.size()) == 0, what);
                bool untouched = true;
                for (std::size_t i = wanted.size(); i < out.size(); ++i) untouched &= out[i] == 0xA5;
                expect(untouched, what + ": writes nothing behind the picture");
            }
        }
    }
    for (const int side : {0, -1, 1025}) {
        bool refused = false;
        try {
            screen::GreyResizer(side, 84);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        expect(refused, "a side of " + std::to_string(side) + " is refused");
    }
}

void check_colours() {
    Random random(4);
    auto first = std::make_unique<nes::Picture>();
    auto second = std::make_unique<nes::Picture>();
    for (nes::Picture* picture : {first.get(), second.get()}) {
        for (auto& pixel : picture->pixels) pixel = static_cast<std::uint8_t>(random() & 63);
        for (auto& emphasis : picture->emphasis) emphasis = static_cast<std::uint8_t>(random() & 7);
    }
    std::vector<std::uint8_t> wanted[2];
    for (int i = 0; i < screen::kPixels; ++i) {
        const nes::Colour a = nes::emphasised(nes::kPalette[first->pixels[i]], first->emphasis[i / 256]);
        const nes::Colour b = nes::emphasised(nes::kPalette[second->pixels[i]], second->emphasis[i / 256]);
        for (int channel = 0; channel < 3; ++channel) {
            wanted[0].push_back(a[channel]);
            wanted[1].push_back(std::max(a[channel], b[channel]));
        }
    }
    for (const screen::SimdPath path : screen::usable_paths()) {
        screen::set_path(path);
        for (int larger = 0; larger < 2; ++larger) {
            std::vector<std::uint8_t> out(3 * screen::kPixels + 64, 0xA5);
            screen::write_rgb(*first, larger ? second.get() : nullptr, out.data());
            const std::string what = std::string("write_rgb, path ") + screen::path_name(path);
            expect(std::memcmp(out.data(), wanted[larger].data(), wanted[larger].size()) == 0, what);
            expect(out[3 * screen::kPixels] == 0xA5, what + ": writes nothing behind the picture");
        }
    }
    // Measured pixels of a reference emulator: white in all emphases, and a blue under red emphasis.
    const nes::Colour whites[8] = {{236, 238, 236}, {255, 214, 212}, {212, 255, 212}, {233, 235, 191},
                                   {212, 214, 255}, {233, 192, 233}, {191, 235, 233}, {210, 212, 210}};
    for (int i = 0; i < 8; ++i) expect(nes::emphasised(nes::kPalette[0x30], i) == whites[i], "emphasis of white");
    expect(nes::emphasised(nes::kPalette[0x21], 1) == nes::Colour{83, 138, 212}, "red emphasis of blue");
    expect(nes::luma({255, 255, 255}) == 255 && nes::luma({76, 154, 236}) == 140, "luma of a colour");
}

void check_paths() {
    const auto paths = screen::usable_paths();
    expect(!paths.empty() && paths.back() == screen::SimdPath::plain, "plain is always usable");
#if defined(__x86_64__)
    const screen::SimdPath foreign = screen::SimdPath::neon;
#else
    const screen::SimdPath foreign = screen::SimdPath::avx512;
#endif
    screen::set_path(screen::SimdPath::plain);
    expect(!screen::set_path(foreign) && screen::current_path() == screen::SimdPath::plain,
           "a path of another machine is refused");
}

template <class Work>
double microseconds(Work work) {
    double best = 1e9;
    for (int round = 0; round < 15; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 200; ++i) work();
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
        best = std::min(best, taken.count() / 200);
    }
    return best;
}

void print_times() {
    Random random(5);
    auto world = std::make_unique<World>();
    randomise(*world, random);
    // A status bar and a scrolling playfield with twenty sprites, as in a typical platform game.
    world->oam.fill(0xF8);
    for (int i = 0; i < 20; ++i) {
        std::uint8_t* sprite = &world->oam[4 * i];
        sprite[0] = static_cast<std::uint8_t>(150 + i / 4 * 8);
        sprite[2] = static_cast<std::uint8_t>(i & 0x43);
        sprite[3] = static_cast<std::uint8_t>(40 + i % 4 * 40);
    }
    world->scene.control = 0x10;
    std::vector<std::uint8_t> grey(84 * 84);
    std::vector<std::uint8_t> rgb(3 * screen::kPixels);
    const screen::GreyResizer resizer(84, 84);
    const auto draw = [&](std::uint8_t mask) {
        world->scene.mask = mask;
        world->scene.address = 0x2000;
        world->scene.fine_x = 0;
        nes::draw_lines(world->scene, 0x2000, 0, 32, world->drawn);
        world->scene.address = 0x0085;
        world->scene.fine_x = 3;
        nes::draw_lines(world->scene, 0x0085, 32, 240, world->drawn);
    };
    std::printf("%-8s %10s %10s %10s %10s %10s  (best of 15, microseconds)\n", "path", "background", "+ sprites",
                "84x84", "max of two", "rgb");
    for (const screen::SimdPath path : screen::usable_paths()) {
        screen::set_path(path);
        const double background = microseconds([&] { draw(0x0E); });
        const double picture = microseconds([&] { draw(0x1E); });
        const double resize = microseconds([&] { resizer.resize(world->drawn.pixels.data(), nullptr, grey.data()); });
        const double larger =
            microseconds([&] { resizer.resize(world->drawn.pixels.data(), world->wanted.pixels.data(), grey.data()); });
        const double colours = microseconds([&] { screen::write_rgb(world->drawn, nullptr, rgb.data()); });
        std::printf("%-8s %10.2f %10.2f %10.2f %10.2f %10.2f\n", screen::path_name(path), background, picture, resize,
                    larger, colours);
    }
}

}  // namespace

// An argument sets the number of random scenes.
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
    check_paths();
    check_tiles();
    check_bands(rounds);
    check_spans(rounds);
    check_resize();
    check_colours();
    if (failures != 0) {
        std::printf("%d checks failed\n", failures);
        return 1;
    }
    print_times();
    return 0;
}
