#include "bindings/arrays.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace nb = nanobind;

namespace bindings {

namespace {

struct ElementFacts {
    const char* name;
    Py_ssize_t bytes;
    const char* formats;  // the letters of Python's struct module that mean it
};

const ElementFacts& facts_of(Element element) {
    static constexpr ElementFacts kFacts[] = {{"uint8", 1, "B"}, {"uint16", 2, "H"}, {"int32", 4, "il"}};
    return kFacts[static_cast<int>(element)];
}

std::string text_of(const nb::object& object) { return nb::cast<std::string>(nb::str(nb::handle(object))); }

std::string class_name(nb::handle object) { return text_of(object.type().attr("__name__")); }

std::string shape_text(std::span<const Py_ssize_t> lengths) {
    std::string text = "(";
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (i > 0) text += ", ";
        text += lengths[i] == kAny ? "any" : std::to_string(lengths[i]);
    }
    return text + (lengths.size() == 1 ? ",)" : ")");
}

bool fits(const Py_buffer& view, const Shape& shape) {
    const auto lengths = shape.lengths();
    if (view.ndim != static_cast<int>(lengths.size())) return false;
    return std::equal(lengths.begin(), lengths.end(), view.shape,
                      [](Py_ssize_t wanted, Py_ssize_t came) { return wanted == kAny || wanted == came; });
}

bool is_element(const Py_buffer& view, const ElementFacts& facts) {
    std::string_view format = view.format ? view.format : "B";
    if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) format.remove_prefix(1);
    return view.itemsize == facts.bytes && format.size() == 1 &&
           std::string_view(facts.formats).find(format[0]) != format.npos;
}

std::string element_text(nb::handle source, const Py_buffer& view) {
    if (nb::hasattr(source, "dtype")) return text_of(source.attr("dtype"));
    return std::string("of format '") + (view.format ? view.format : "B") + "'";
}

}  // namespace

Array::Array(nb::handle source, const char* name, Element element, Access access, Shapes wanted) {
    const ElementFacts& facts = facts_of(element);
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_FULL_RO) != 0) {
        PyErr_Clear();
        view_.obj = nullptr;
        throw nb::type_error(
            (std::string(name) + " must be a NumPy array of " + facts.name + ", but a " + class_name(source) + " came")
                .c_str());
    }
    // The destructor does not run for what throws here.
    const auto refuse = [this](const auto& error) {
        PyBuffer_Release(&view_);
        throw error;
    };
    if (!is_element(view_, facts)) {
        refuse(nb::type_error(
            (std::string(name) + " must be " + facts.name + ", but is " + element_text(source, view_)).c_str()));
    }
    if (std::none_of(wanted.begin(), wanted.end(), [this](const Shape& shape) { return fits(view_, shape); })) {
        std::string text = std::string(name) + " must have shape ";
        const char* between = "";
        for (const Shape& shape : wanted) {
            text += between + shape_text(shape.lengths());
            between = " or ";
        }
        text += ", but has " + shape_text({view_.shape, static_cast<std::size_t>(view_.ndim)});
        refuse(nb::value_error(text.c_str()));
    }
    if (!PyBuffer_IsContiguous(&view_, 'C')) {
        refuse(nb::value_error(
            (std::string(name) + " must lie in memory without gaps, in C order, but is a strided view; pass a copy")
                .c_str()));
    }
    if (reinterpret_cast<std::uintptr_t>(view_.buf) % static_cast<std::uintptr_t>(facts.bytes) != 0) {
        refuse(nb::value_error(
            (std::string(name) + " must begin at a multiple of its elements' size in memory, but does not; pass a copy")
                .c_str()));
    }
    if (access == Access::write && view_.readonly) {
        refuse(nb::value_error(
            (std::string(name) + " is written to, but the array is read-only; pass a writable one").c_str()));
    }
}

Array Array::optional(nb::handle source, const char* name, Element element, Access access, Shapes wanted) {
    return source.is_none() ? Array() : Array(source, name, element, access, wanted);
}

Array::Array(Array&& other) noexcept : view_(std::exchange(other.view_, {})) {}

Array& Array::operator=(Array&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
}

Array::~Array() {
    if (view_.obj) PyBuffer_Release(&view_);
}

}  // namespace bindings
