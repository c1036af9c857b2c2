// A game's program as native code, in a shared library that was compiled on this machine.
#pragma once

#include <memory>
#include <string>

#include "nes/cartridge.h"
#include "nes/code.h"

namespace pool {

// Names the program: FNV-1a of its 32 KiB, in hexadecimal.
std::string program_hash(const nes::Cartridge& cartridge);

// Open for as long as somebody holds it.
class CodeLibrary {
  public:
    // Throws std::invalid_argument with one sentence if the library does not fit this engine and this program.
    static std::shared_ptr<const CodeLibrary> open(const std::string& path, const nes::Cartridge& cartridge);

    ~CodeLibrary();
    CodeLibrary(const CodeLibrary&) = delete;
    CodeLibrary& operator=(const CodeLibrary&) = delete;

    const nes::Code& code() const { return *code_; }

  private:
    explicit CodeLibrary(void* handle) : handle_(handle) {}

    void* handle_;
    const nes::Code* code_ = nullptr;
};

}  // namespace pool
