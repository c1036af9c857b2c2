// What holds for every console, whatever it runs.
//
// The same game is run in several ways at once: drawn and not, skipping waiting loops and not, a frame or an
// instruction at a time, without a break and from a saved state. After every frame all of them hold the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "fuzz/program.h"
#include "nes/console.h"
#include "nes/state.h"
#include "screen/simd.h"

namespace fuzz {

// A console with the memory around it.
struct Lane {
    const nes::Cartridge* cartridge;
    nes::Console console{};
    std::array<std::uint8_t, nes::kPatternBytes> patterns{};

    explicit Lane(const nes::Cartridge& game) : cartridge(&game) { console.power_on(machine()); }

    nes::Machine machine(nes::Drawing* drawing = nullptr) {
        nes::Machine surroundings{cartridge};
        surroundings.drawing = drawing;
        if (cartridge->patterns_are_ram()) surroundings.pattern_ram = patterns.data();
        return surroundings;
    }

    void prepare(const Game& game, int frame) {
        if (frame == game.reset_at) console.reset(machine());
        console.controllers.held[0] = game.pad(frame, 0);
        console.controllers.held[1] = game.pad(frame, 1);
    }
};

struct Canvas {
    nes::Picture picture;
    std::array<nes::TilePixels, nes::kTiles> tiles;
    nes::Drawing drawing;

    Canvas() {
        picture.pixels.fill(0);
        picture.emphasis.fill(0);
        for (std::size_t colour = 0; colour < picture.shades.size(); ++colour) {
            picture.shades[colour] = static_cast<std::uint8_t>(colour);
        }
        drawing.picture = &picture;
        drawing.tiles = tiles.data();
    }
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;

    bool shows_same(const Canvas& other) const {
        return picture.pixels == other.picture.pixels && picture.emphasis == other.picture.emphasis;
    }
};

// Empty if equal; otherwise the first field that is not.
inline std::string difference(const Lane& left, const Lane& right) {
    std::string name;
    if (left.patterns != right.patterns) name = "the pattern RAM";
    const auto* left_bytes = reinterpret_cast<const std::uint8_t*>(&left.console);
    const auto* right_bytes = reinterpret_cast<const std::uint8_t*>(&right.console);
    if (name.empty() && std::memcmp(left_bytes, right_bytes, sizeof(nes::Console)) == 0) return name;
    nes::visit_fields(left.console, [&](const char* field_name, const auto& field) {
        const auto offset = reinterpret_cast<const std::uint8_t*>(&field) - left_bytes;
        if (name.empty() && std::memcmp(&field, right_bytes + offset, sizeof field) != 0) name = field_name;
    });
    return name;
}

class Properties {
  public:
    explicit Properties(const Game& game)
        : game_(game),
          cartridge_(nes::Cartridge::parse(game.file)),
          patient_(cartridge_),
          drawn_(cartridge_),
          bare_(cartridge_),
          stepped_(cartridge_),
          waiting_(patient_) {
        patient_.idle = nes::IdleLoops{};
        paths_ = screen::usable_paths();
        for (std::size_t path = 0; path < paths_.size(); ++path) canvases_.push_back(std::make_unique<Canvas>());
    }

    // Empty if all holds; otherwise a sentence.
    std::string broken() {
        const auto first = screen::current_path();
        std::string what;
        for (int frame = 0; frame < game_.frames && what.empty(); ++frame) {
            what = broken_in(frame);
            if (!what.empty()) what = "frame " + std::to_string(frame) + ": " + what;
        }
        if (what.empty()) what = broken_by_saving();
        screen::set_path(first);
        return what;
    }

  private:
    static constexpr nes::Cycle kLongestFrame = 29781 + 2048;  // and the longest instruction: two sprite copies

    const Game& game_;
    nes::Cartridge cartridge_;
    nes::Cartridge patient_;  // the same without knowledge of waiting loops
    Lane drawn_, bare_, stepped_, waiting_;
    std::unique_ptr<Lane> saved_;
    std::span<const screen::SimdPath> paths_;
    std::vector<std::unique_ptr<Canvas>> canvases_;
    Canvas by_steps_;

    // Draws as well, and decodes RAM's tiles afresh each time: what is kept of them elsewhere is then checked by this.
    void step_a_frame(Lane& lane, nes::Drawing& drawing) {
        const std::uint64_t before = lane.console.frames;
        drawing.begin();
        for (nes::Cycle steps = 0; lane.console.frames == before && steps < kLongestFrame; ++steps) {
            drawing.decoded = false;
            lane.console.step(lane.machine(&drawing));
        }
    }

    std::string broken_in(int frame) {
        if (frame == game_.frames / 2) saved_ = std::make_unique<Lane>(bare_);
        for (Lane* lane : {&drawn_, &bare_, &stepped_, &waiting_}) lane->prepare(game_, frame);
        const Lane before = drawn_;
        bare_.console.run_frame(bare_.machine());
        waiting_.console.run_frame(waiting_.machine());
        step_a_frame(stepped_, by_steps_.drawing);
        for (std::size_t path = 0; path < paths_.size(); ++path) {
            screen::set_path(paths_[path]);
            drawn_ = before;
            drawn_.console.run_frame(drawn_.machine(&canvases_[path]->drawing));
            if (const auto field = difference(bare_, drawn_); !field.empty()) return "drawing changes " + field;
            if (!canvases_[path]->shows_same(*canvases_[0])) {
                return std::string("another picture is drawn with ") + screen::path_name(paths_[path]);
            }
        }
        if (const auto field = difference(bare_, waiting_); !field.empty())
            return "skipping a waiting loop changes " + field;
        if (const auto field = difference(bare_, stepped_); !field.empty()) return "stepping changes " + field;
        if (!by_steps_.shows_same(*canvases_[0])) return "stepping draws another picture";
        if (bare_.console.frames != before.console.frames + 1) return "run_frame does not run one frame";
        if (bare_.console.cpu.clock - before.console.cpu.clock > kLongestFrame) return "the frame is too long";
        if (!nes::plausible(bare_.console)) return "the state is not plausible";
        return {};
    }

    std::string broken_by_saving() {
        if (!saved_) return {};
        for (int frame = game_.frames / 2; frame < game_.frames; ++frame) {
            saved_->prepare(game_, frame);
            saved_->console.run_frame(saved_->machine());
        }
        const auto field = difference(bare_, *saved_);
        return field.empty() ? field : "running on from a saved state changes " + field;
    }
};

}  // namespace fuzz
