#include "fish_bindings/arrays.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace fish_bindings {

namespace {

struct Kind {
    std::string name;
    nb::dlpack::dtype type;
    std::size_t bytes;
};

// In the order of Element.
const std::array<Kind, 5> kKinds{{{"float32", nb::dtype<float>(), sizeof(float)},
                                  {"bool", nb::dtype<bool>(), sizeof(bool)},
                                  {"int64", nb::dtype<std::int64_t>(), sizeof(std::int64_t)},
                                  {"int32", nb::dtype<std::int32_t>(), sizeof(std::int32_t)},
                                  {"float64", nb::dtype<double>(), sizeof(double)}}};

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

std::string shape_text(const std::vector<std::int64_t>& lengths) {
    std::string text = "(";
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (i > 0) text += ", ";
        text += lengths[i] == kAny ? "any" : std::to_string(lengths[i]);
    }
    return text + (lengths.size() == 1 ? ",)" : ")");
}

bool has_gaps(const nb::ndarray<nb::ro>& array) {
    if (array.size() == 0) return false;
    std::int64_t step = 1;
    for (std::size_t i = array.ndim(); i-- > 0;) {
        if (array.shape(i) > 1 && array.stride(i) != step) return true;
        step *= static_cast<std::int64_t>(array.shape(i));
    }
    return false;
}

}  // namespace

Array::Array(nb::handle source, const char* name, Element element, Access access, Lengths wanted) {
    const Kind& kind = kKinds[static_cast<std::size_t>(element)];
    const std::string subject = name;
    if (!nb::try_cast(source, view_)) {
        throw nb::type_error((subject + " must be a CPU tensor or a NumPy array of " + kind.name + ", but a " +
                              text_of(source.type().attr("__name__")) + " came whose memory cannot be shared")
                                 .c_str());
    }
    if (view_.device_type() != nb::device::cpu::value) {
        throw nb::value_error((subject + " must lie in the CPU's memory, but does not; pass a copy that does").c_str());
    }
    if (view_.dtype() != kind.type) {
        const std::string came = nb::hasattr(source, "dtype") ? text_of(source.attr("dtype")) : "something else";
        throw nb::type_error((subject + " must be " + kind.name + ", but is " + came).c_str());
    }
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < view_.ndim(); ++i) lengths.push_back(length(i));
    if (!std::equal(lengths.begin(), lengths.end(), wanted.begin(), wanted.end(),
                    [](std::int64_t came, std::int64_t allowed) { return allowed == kAny || came == allowed; })) {
        throw nb::value_error(
            (subject + " must have shape " + shape_text(wanted) + ", but has " + shape_text(lengths)).c_str());
    }
    if (has_gaps(view_)) {
        throw nb::value_error(
            (subject + " must lie in memory without gaps, in C order, but is a strided view; pass a copy").c_str());
    }
    if (reinterpret_cast<std::uintptr_t>(view_.data()) % kind.bytes != 0) {
        throw nb::value_error(
            (subject + " must begin at a multiple of its elements' size in memory, but does not; pass a copy").c_str());
    }
    if (access == Access::write && !nb::try_cast(source, writable_)) {
        throw nb::value_error((subject + " is written to, but is read-only; pass a writable one").c_str());
    }
}

}  // namespace fish_bindings
