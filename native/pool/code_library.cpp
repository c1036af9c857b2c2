#include "pool/code_library.h"

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>

#include "nes/console.h"

namespace pool {

namespace {

constexpr const char* kSymbol = "respawn_code";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw std::invalid_argument("the recompiled code in " + path + " " + why + "; remove it, so that it is built anew");
}

}  // namespace

std::string program_hash(const nes::Cartridge& cartridge) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const std::uint8_t byte : cartridge.program) hash = (hash ^ byte) * 0x100000001B3;
    std::string text(16, '0');
    for (std::size_t digit = 0; digit < text.size(); ++digit) {
        text[digit] = "0123456789abcdef"[hash >> (60 - 4 * digit) & 15];
    }
    return text;
}

std::shared_ptr<const CodeLibrary> CodeLibrary::open(const std::string& path, const nes::Cartridge& cartridge) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = dlerror();
        refuse(path, std::string("cannot be opened (") + (why ? why : "no reason given") + ")");
    }
    const std::shared_ptr<CodeLibrary> library(new CodeLibrary(handle));
    const auto* exported = static_cast<const nes::CodeExport*>(dlsym(handle, kSymbol));
    if (!exported) refuse(path, std::string("does not export '") + kSymbol + "'");
    if (exported->version != nes::kCodeVersion) {
        refuse(path, "follows version " + std::to_string(exported->version) +
                         " of the contract, and this engine version " + std::to_string(nes::kCodeVersion));
    }
    if (exported->console_bytes != static_cast<int>(sizeof(nes::Console))) {
        refuse(path, "expects consoles of " + std::to_string(exported->console_bytes) +
                         " bytes, and this engine's have " + std::to_string(sizeof(nes::Console)));
    }
    const std::string expected = program_hash(cartridge);
    const std::string came = exported->program_hash ? exported->program_hash : "";
    if (came != expected) refuse(path, "was made from program " + came + ", and this game's program is " + expected);
    if (!exported->code.run || !exported->code.reach) refuse(path, "holds no code");
    library->code_ = &exported->code;
    return library;
}

CodeLibrary::~CodeLibrary() { dlclose(handle_); }

}  // namespace pool
