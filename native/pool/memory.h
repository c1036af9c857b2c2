// A block of bytes that begins on a cache line, zero at first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace pool {

constexpr std::size_t kCacheLine = 64;

constexpr std::size_t whole_cache_lines(std::size_t bytes) {
    return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

class Memory {
  public:
    Memory() = default;
    explicit Memory(std::size_t bytes)
        : bytes_(static_cast<std::uint8_t*>(::operator new(bytes, std::align_val_t{kCacheLine}))) {
        std::memset(bytes_.get(), 0, bytes);
    }

    std::uint8_t* at(std::size_t offset) { return bytes_.get() + offset; }
    const std::uint8_t* at(std::size_t offset) const { return bytes_.get() + offset; }
    explicit operator bool() const { return bytes_ != nullptr; }

  private:
    struct Free {
        void operator()(std::uint8_t* bytes) const { ::operator delete(bytes, std::align_val_t{kCacheLine}); }
    };
    std::unique_ptr<std::uint8_t, Free> bytes_;
};

}  // namespace pool
