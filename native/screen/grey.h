// Grey pictures of any size: the exact average of the area each pixel covers, halves rounded up.
#pragma once

#include <cstdint>

#include "nes/picture.h"
#include "screen/resize_plan.h"

namespace screen {

constexpr int kLargestSide = 1024;

// Makes a picture draw luma instead of colours. The emphasis bits do not change the luma.
void use_grey_shades(nes::Picture& picture);

// Everything a size needs, worked out once. Any number of threads may use one resizer.
class GreyResizer {
  public:
    // Sides of 1..kLargestSide; throws std::invalid_argument for others.
    GreyResizer(int height, int width);

    int height() const { return plan_.height; }
    int width() const { return plan_.width; }

    // `pixels` are 256x240 grey bytes; with `other`, each pixel counts as the larger of the two. Allocates nothing.
    void resize(const std::uint8_t* pixels, const std::uint8_t* other, std::uint8_t* out) const;

  private:
    ResizePlan plan_;
};

}  // namespace screen
