// What a pool shows of its games, and the room in which one worker draws it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "nes/drawing.h"
#include "screen/grey.h"

namespace pool {

enum class PictureKind : std::uint8_t { none, grey, rgb, indices };

// One picture as it lies in the caller's memory; known once, used by all workers.
class PictureFormat {
  public:
    // The size matters for grey only: the other kinds are as large as the screen.
    PictureFormat(PictureKind kind, int height, int width);

    PictureKind kind() const { return kind_; }
    int height() const { return height_; }
    int width() const { return width_; }
    std::size_t bytes() const { return bytes_; }

    // Makes what was drawn the picture at `out`; with `other`, the larger of both in every pixel and channel.
    void write(const nes::Picture& drawn, const nes::Picture* other, std::uint8_t* out) const;
    // Prepares a picture to be drawn on.
    void prepare(nes::Picture& picture) const;

  private:
    PictureKind kind_;
    int height_ = 0;
    int width_ = 0;
    std::size_t bytes_ = 0;
    std::optional<screen::GreyResizer> resizer_;
};

// Room for the last two frames of a step. It belongs to a worker, not to a lane: so it stays in that core's cache.
class Canvas {
  public:
    Canvas(const PictureFormat& format, bool patterns_are_ram);

    nes::Drawing* sheet(int number) { return &drawings_[static_cast<std::size_t>(number)]; }
    const nes::Picture& picture(int number) const { return pictures_[static_cast<std::size_t>(number)]; }

  private:
    std::array<nes::Picture, 2> pictures_;
    std::array<nes::Drawing, 2> drawings_;
    std::unique_ptr<nes::TilePixels[]> tiles_;
};

}  // namespace pool
