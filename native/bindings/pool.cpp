// The Python class Pool. Arrays are checked here; everything runs without the GIL.
#include "pool/pool.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include "bindings/arrays.h"
#include "bindings/cartridge.h"
#include "bindings/classes.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace bindings {

namespace {

using pool::PictureKind;
using pool::Pool;

constexpr std::array<std::pair<std::string_view, PictureKind>, 4> kKinds = {{{"none", PictureKind::none},
                                                                             {"grey", PictureKind::grey},
                                                                             {"rgb", PictureKind::rgb},
                                                                             {"indices", PictureKind::indices}}};

PictureKind kind_of(const std::string& name) {
    for (const auto& [known, kind] : kKinds) {
        if (name == known) return kind;
    }
    throw nb::value_error(("kind must be 'none', 'grey', 'rgb' or 'indices', but is '" + name + "'").c_str());
}

// The shape of a history, of `count` of them.
Shape frames_shape(const Pool& pool, Py_ssize_t count) {
    const pool::PictureFormat& format = pool.rules().pictures;
    Shape shape = {count, pool.rules().stack, format.height(), format.width()};
    if (format.kind() == PictureKind::rgb) shape.add(3);
    return shape;
}

Shape states_shape(const Pool& pool, Py_ssize_t count) {
    return {count, static_cast<Py_ssize_t>(pool.rules().state_bytes())};
}

Array frames_array(const Pool& pool, nb::handle frames, Py_ssize_t count, Access access) {
    if (pool.rules().pictures.kind() == PictureKind::none && !frames.is_none()) {
        throw nb::value_error("this pool shows no pictures (its kind is 'none'), so frames must be None");
    }
    return Array::optional(frames, "frames", Element::uint8, access, {frames_shape(pool, count)});
}

Array ram_array(const Pool& pool, nb::handle ram) {
    const auto watched = static_cast<Py_ssize_t>(pool.rules().watched.size());
    if (watched == 0 && !ram.is_none()) {
        throw nb::value_error("this pool watches no addresses (watch was None or empty), so ram must be None");
    }
    return Array::optional(ram, "ram", Element::uint8, Access::write, {{pool.lanes(), watched}});
}

Array numbers(nb::handle source, const char* name, Py_ssize_t count = kAny) {
    return Array(source, name, Element::int32, Access::read, {{count}});
}

std::span<const std::int32_t> as_span(const Array& array) {
    return {array.integers(), static_cast<std::size_t>(array.length(0))};
}

template <class Work>
void run(Pool& pool, Work work) {
    pool.survive_fork();
    const nb::gil_scoped_release released;
    work();
}

void make(Pool* self, const Cartridge& cartridge, int lanes, int threads, int skip, const std::string& kind, int height,
          int width, int stack, bool max_of_two, nb::handle watch, bool interpret) {
    pool::Options options{lanes, threads, skip, kind_of(kind), height, width, stack, max_of_two, {}};
    if (const Array watched = Array::optional(watch, "watch", Element::uint16, Access::read, {{kAny}})) {
        options.watched.assign(watched.addresses(), watched.addresses() + watched.length(0));
    }
    new (self) Pool(cartridge.game, interpret ? nullptr : cartridge.code, std::move(options));
}

void step(Pool& self, nb::handle buttons, nb::handle frames, nb::handle ram, nb::handle restart) {
    const Py_ssize_t lanes = self.lanes();
    const Array held(buttons, "buttons", Element::uint8, Access::read, {{lanes}, {lanes, 2}});
    const Array shown = frames_array(self, frames, lanes, Access::write);
    const Array watched = ram_array(self, ram);
    const Array restarted = Array::optional(restart, "restart", Element::int32, Access::read, {{lanes}});
    const pool::StepBuffers buffers{held.bytes(), held.dimensions(), shown.bytes(), watched.bytes(),
                                    restarted.integers()};
    run(self, [&] { self.step(buffers); });
}

void observe(Pool& self, nb::handle frames, nb::handle ram) {
    const Array shown = frames_array(self, frames, self.lanes(), Access::write);
    const Array watched = ram_array(self, ram);
    run(self, [&] { self.observe(shown.bytes(), watched.bytes()); });
}

void set_starts(Pool& self, nb::handle states, nb::handle frames) {
    const Array saved(states, "states", Element::uint8, Access::read, {states_shape(self, kAny)});
    const Array shown = frames_array(self, frames, saved.length(0), Access::read);
    run(self, [&] { self.set_starts(saved.bytes(), shown.bytes(), static_cast<int>(saved.length(0))); });
}

void load(Pool& self, nb::handle lanes, nb::handle starts) {
    const Array which = numbers(lanes, "lanes");
    const Array from = numbers(starts, "starts", which.length(0));
    run(self, [&] { self.load_starts(as_span(which), as_span(from)); });
}

void save_states(Pool& self, nb::handle lanes, nb::handle out) {
    const Array which = numbers(lanes, "lanes");
    const Array saved(out, "out", Element::uint8, Access::write, {states_shape(self, which.length(0))});
    run(self, [&] { self.save_states(as_span(which), saved.bytes()); });
}

void load_states(Pool& self, nb::handle lanes, nb::handle states) {
    const Array which = numbers(lanes, "lanes");
    const Array saved(states, "states", Element::uint8, Access::read, {states_shape(self, which.length(0))});
    run(self, [&] { self.load_states(as_span(which), saved.bytes()); });
}

void save_frames(Pool& self, nb::handle lanes, nb::handle out) {
    const Array which = numbers(lanes, "lanes");
    if (self.rules().pictures.kind() == PictureKind::none)
        throw nb::value_error("this pool shows no pictures (its kind is 'none'), so there are none to save");
    const Array shown(out, "out", Element::uint8, Access::write, {frames_shape(self, which.length(0))});
    run(self, [&] { self.save_frames(as_span(which), shown.bytes()); });
}

void load_frames(Pool& self, nb::handle lanes, nb::handle frames) {
    const Array which = numbers(lanes, "lanes");
    const Array shown = frames_array(self, frames, which.length(0), Access::read);
    run(self, [&] { self.load_frames(as_span(which), shown.bytes()); });
}

nb::object frame_shape(const Pool& self) {
    if (self.rules().pictures.kind() == PictureKind::none) return nb::none();
    const Shape all = frames_shape(self, 0);
    nb::list shape;
    for (const Py_ssize_t length : all.lengths().subspan(1)) shape.append(length);
    return nb::tuple(shape);
}

}  // namespace

void bind_pool(nb::module_& module) {
    nb::class_<Pool>(module, "Pool", "Many consoles of one game, stepped in one call; each was just switched on.")
        .def("__init__", &make, "cartridge"_a, "lanes"_a, "threads"_a = 1, "skip"_a = 4, "kind"_a = "none",
             "height"_a = 84, "width"_a = 84, "stack"_a = 4, "max_of_two"_a = false, "watch"_a = nb::none(),
             "interpret"_a = false)
        .def("step", &step, "buttons"_a.none(), "frames"_a = nb::none(), "ram"_a = nb::none(), "restart"_a = nb::none(),
             "Restart the lanes that ask for it, run every lane for `skip` frames, write pictures and watched RAM.")
        .def("observe", &observe, "frames"_a = nb::none(), "ram"_a = nb::none(),
             "Write pictures and watched RAM as they stand.")
        .def("set_starts", &set_starts, "states"_a.none(), "frames"_a = nb::none(),
             "Copy the table that lanes restart from.")
        .def("load", &load, "lanes"_a.none(), "starts"_a.none(), "Restart these lanes from these entries of the table.")
        .def("save_states", &save_states, "lanes"_a.none(), "out"_a.none(), "Copy the states of these lanes.")
        .def("load_states", &load_states, "lanes"_a.none(), "states"_a.none(),
             "Set the states of these lanes; their pictures become black.")
        .def("save_frames", &save_frames, "lanes"_a.none(), "out"_a.none(),
             "Copy the pictures of these lanes, oldest first.")
        .def("load_frames", &load_frames, "lanes"_a.none(), "frames"_a.none(),
             "Set the pictures of these lanes; None: black.")
        .def_prop_ro("lanes", &Pool::lanes)
        .def_prop_ro("threads", &Pool::threads)
        .def_prop_ro("starts", &Pool::starts, "How many entries the table has.")
        .def_prop_ro("recompiled", &Pool::recompiled)
        .def_prop_ro("state_bytes", [](const Pool& self) { return self.rules().state_bytes(); })
        .def_prop_ro("frame_shape", &frame_shape, "Of one lane's pictures; None for kind 'none'.");
}

}  // namespace bindings
