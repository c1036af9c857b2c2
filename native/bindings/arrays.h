// Views of arrays that Python owns, checked before anything is done with them.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace bindings {

enum class Element { uint8, uint16, int32 };
enum class Access { read, write };

constexpr Py_ssize_t kAny = -1;  // in a shape: whatever comes

// At most five lengths, in place: a step makes several of these and allocates nothing.
class Shape {
  public:
    Shape() = default;
    Shape(std::initializer_list<Py_ssize_t> lengths) {
        for (const Py_ssize_t length : lengths) add(length);
    }

    void add(Py_ssize_t length) { lengths_[count_++] = length; }
    std::span<const Py_ssize_t> lengths() const { return {lengths_.data(), count_}; }

  private:
    std::array<Py_ssize_t, 5> lengths_{};
    std::size_t count_ = 0;
};

using Shapes = std::initializer_list<Shape>;

// Holds the array for as long as it lives. It may be used without the GIL, but not made or let go.
class Array {
  public:
    // Empty: there was no array.
    Array() = default;
    // Raises TypeError for another kind of element, ValueError for a wrong shape, stride or write protection. `wanted`
    // are the shapes that are allowed.
    Array(nanobind::handle source, const char* name, Element element, Access access, Shapes wanted);
    Array(Array&& other) noexcept;
    Array& operator=(Array&& other) noexcept;
    ~Array();

    // None becomes an empty array.
    static Array optional(nanobind::handle source, const char* name, Element element, Access access, Shapes wanted);

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
