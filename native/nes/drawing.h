// A picture in the making, and how far it has come.
#pragma once

#include "nes/picture.h"

namespace nes {

struct Drawing {
    Picture* picture = nullptr;
    TilePixels* tiles = nullptr;  // room to decode kTiles patterns that are RAM; unused otherwise
    bool decoded = false;         // they are, and nothing was written since
    int line = 0;                 // the next pixel to be drawn
    int x = 0;

    void begin() {
        decoded = false;
        line = x = 0;
    }
};

}  // namespace nes
