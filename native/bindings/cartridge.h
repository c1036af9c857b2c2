// The Python class Cartridge.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "pool/code_library.h"

namespace bindings {

// Consoles and pools take what they need of it when they are made, and keep that alive themselves.
struct Cartridge {
    std::shared_ptr<const nes::Cartridge> game;
    std::shared_ptr<const pool::CodeLibrary> code;  // null: interpret
    std::string hash;                               // of the program
};

}  // namespace bindings
