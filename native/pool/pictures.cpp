#include "pool/pictures.h"

#include "screen/colour.h"

namespace pool {

PictureFormat::PictureFormat(PictureKind kind, int height, int width) : kind_(kind) {
    switch (kind) {
        case PictureKind::none:
            break;
        case PictureKind::grey:
            resizer_.emplace(height, width);
            height_ = height;
            width_ = width;
            bytes_ = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
            break;
        case PictureKind::rgb:
        case PictureKind::indices:
            height_ = nes::kScreenHeight;
            width_ = nes::kScreenWidth;
            bytes_ = std::size_t{screen::kPixels} * (kind == PictureKind::rgb ? 3 : 1);
            break;
    }
}

void PictureFormat::prepare(nes::Picture& picture) const {
    picture.pixels.fill(0);
    picture.emphasis.fill(0);
    if (kind_ == PictureKind::grey) {
        screen::use_grey_shades(picture);
    } else {
        screen::use_colour_shades(picture);
    }
}

void PictureFormat::write(const nes::Picture& drawn, const nes::Picture* other, std::uint8_t* out) const {
    switch (kind_) {
        case PictureKind::none:
            break;
        case PictureKind::grey:
            resizer_->resize(drawn.pixels.data(), other ? other->pixels.data() : nullptr, out);
            break;
        case PictureKind::rgb:
            screen::write_rgb(drawn, other, out);
            break;
        case PictureKind::indices:
            screen::write_indices(drawn, out);
            break;
    }
}

Canvas::Canvas(const PictureFormat& format, bool patterns_are_ram) {
    if (patterns_are_ram) tiles_ = std::make_unique<nes::TilePixels[]>(nes::kTiles);
    for (std::size_t number = 0; number < pictures_.size(); ++number) {
        format.prepare(pictures_[number]);
        drawings_[number].picture = &pictures_[number];
        drawings_[number].tiles = tiles_.get();
    }
}

}  // namespace pool
