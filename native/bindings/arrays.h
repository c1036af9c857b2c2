// Views of arrays that Python owns, checked before anything is done with them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bindings {

enum class Element { uint8, uint16, int32 };
enum class Access { read, write };

constexpr Py_ssize_t kAny = -1;  // in a shape: whatever comes

using Shape = std::vector<Py_ssize_t>;

// Holds the array for as long as it lives. It may be used without the GIL, but not made or let go.
class Array {
  public:
    // Empty: there was no array.
    Array() = default;
    // Raises TypeError for another kind of element, ValueError for a wrong shape, stride or write protection. `wanted`
    // are the shapes that are allowed.
    Array(nanobind::handle source, const char* name, Element element, Access access, const std::vector<Shape>& wanted);
    Array(Array&& other) noexcept;
    Array& operator=(Array&& other) noexcept;
    ~Array();

    // None becomes an empty array.
    static Array optional(nanobind::handle source, const char* name, Element element, Access access,
                          const std::vector<Shape>& wanted);

    explicit operator bool() const { return view_.obj != nullptr; }
    int dimensions() const { return view_.ndim; }
    Py_ssize_t length(int dimension) const { return view_.shape[dimension]; }

    std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(view_.buf); }
    const std::int32_t* integers() const { return static_cast<const std::int32_t*>(view_.buf); }
    const std::uint16_t* addresses() const { return static_cast<const std::uint16_t*>(view_.buf); }

  private:
    Py_buffer view_{};
};

}  // namespace bindings
