// The bytes a fuzzer hands over, taken from the front; when they are used up, zeros follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fuzz {

class Input {
  public:
    explicit Input(std::span<const std::uint8_t> bytes) : left_(bytes) {}

    bool empty() const { return left_.empty(); }

    std::uint8_t byte() {
        if (left_.empty()) return 0;
        const std::uint8_t first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }

    std::uint16_t word() {
        const std::uint8_t low = byte();
        return static_cast<std::uint16_t>(low | byte() << 8);
    }

    // 0..end-1
    int below(int end) { return byte() % end; }

    std::span<const std::uint8_t> take(std::size_t most) {
        const auto taken = left_.first(std::min(most, left_.size()));
        left_ = left_.subspan(taken.size());
        return taken;
    }

  private:
    std::span<const std::uint8_t> left_;
};

}  // namespace fuzz
