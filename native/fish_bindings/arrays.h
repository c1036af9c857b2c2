// Views of tensors and arrays that Python owns, checked before anything is done with them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>

namespace fish_bindings {

enum class Element { float32, boolean, int64, int32, float64 };
enum class Access { read, write };

constexpr std::int64_t kAny = -1;  // in a shape: whatever comes
using Lengths = std::initializer_list<std::int64_t>;

// Holds the array for as long as it lives and copies nothing. It may be used without the GIL, but not made or let go.
class Array {
  public:
    // Raises TypeError for what is no array or has another kind of element, ValueError for a wrong shape, order, place
    // or write protection.
    Array(nanobind::handle source, const char* name, Element element, Access access, Lengths wanted);

    std::int64_t length(std::size_t dimension) const { return static_cast<std::int64_t>(view_.shape(dimension)); }

    // As the kind of element that the array was made for.
    template <class Kind>
    const Kind* read() const {
        return static_cast<const Kind*>(view_.data());
    }
    template <class Kind>
    Kind* written() const {
        return static_cast<Kind*>(writable_.data());
    }

  private:
    nanobind::ndarray<nanobind::ro> view_;
    nanobind::ndarray<> writable_;  // only for Access::write
};

}  // namespace fish_bindings
