// The Python module respawn.worlds.fish._school. Arrays are checked here; the work is done without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "fish/neighbours.h"
#include "fish_bindings/arrays.h"
#include "fish_bindings/bind.h"
#include "screen/simd.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace fish_bindings {
namespace {

void neighbours(nb::handle positions, nb::handle velocities, nb::handle alive, float radius, int average_count,
                nb::handle out, int threads) {
    const Array places(positions, "positions", Element::float32, Access::read, {kAny, kAny, 2});
    const std::int64_t schools = places.length(0);
    const std::int64_t each = places.length(1);
    const Array ways(velocities, "velocities", Element::float32, Access::read, {schools, each, 2});
    const Array living(alive, "alive", Element::boolean, Access::read, {schools, each});
    const Array facts(out, "out", Element::float32, Access::write, {schools, each, fish::kFacts});
    const float* const x = places.read<float>();
    const float* const velocity_x = ways.read<float>();
    const nb::gil_scoped_release released;
    fish::neighbours(
        {number(schools), number(each), x, x + 1, velocity_x, velocity_x + 1, 2, living.read<std::uint8_t>()},
        {radius, average_count}, facts.written<float>(), threads);
}

void neighbours_of(nb::handle fish, nb::handle alive, float radius, int average_count, nb::handle out, int threads) {
    const Array planes(fish, "fish", Element::float32, Access::read, {4, kAny, kAny});
    const std::int64_t schools = planes.length(1);
    const std::int64_t each = planes.length(2);
    const Array living(alive, "alive", Element::boolean, Access::read, {schools, each});
    const Array facts(out, "out", Element::float32, Access::write, {schools, each, fish::kFacts});
    const float* const x = planes.read<float>();
    const std::int64_t plane = schools * each;
    const nb::gil_scoped_release released;
    fish::neighbours(
        {number(schools), number(each), x, x + plane, x + 2 * plane, x + 3 * plane, 1, living.read<std::uint8_t>()},
        {radius, average_count}, facts.written<float>(), threads);
}

nb::list simd_paths() {
    nb::list names;
    for (const screen::SimdPath path : screen::usable_paths()) names.append(screen::path_name(path));
    return names;
}

void set_simd_path(const std::string& name) {
    for (const screen::SimdPath path : screen::usable_paths()) {
        if (name == screen::path_name(path)) {
            screen::set_path(path);
            return;
        }
    }
    throw nb::value_error(("this machine has no SIMD path '" + name + "'; simd_paths() lists those it has").c_str());
}

}  // namespace
}  // namespace fish_bindings

NB_MODULE(_school, module) {
    module.doc() = "Schools of fish: how they move, what they sense, what they are paid, who is near whom.";
    module.attr("FACTS") = fish::kFacts;
    // None is allowed only to be refused with the sentence that other things which are no arrays get.
    module.def("neighbours", &fish_bindings::neighbours, "positions"_a.none(), "velocities"_a.none(), "alive"_a.none(),
               "radius"_a, "average_count"_a, "out"_a.none(), "threads"_a = 1,
               "Write the facts of every fish into out.");
    module.def("neighbours_of", &fish_bindings::neighbours_of, "fish"_a.none(), "alive"_a.none(), "radius"_a,
               "average_count"_a, "out"_a.none(), "threads"_a = 1, "As neighbours does, from planes.");
    fish_bindings::bind_tank(module);
    module.def("simd_path", [] { return screen::path_name(screen::current_path()); }, "The path in use.");
    module.def("simd_paths", &fish_bindings::simd_paths, "The paths this machine can use, fastest first.");
    module.def("set_simd_path", &fish_bindings::set_simd_path, "name"_a,
               "Take this path from now on; all give the same bytes.");
}
