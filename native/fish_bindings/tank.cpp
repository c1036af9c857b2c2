#include "fish/tank.h"

#include <optional>

#include "fish/neighbours.h"
#include "fish_bindings/arrays.h"
#include "fish_bindings/bind.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace fish_bindings {
namespace {

using fish::Prices;

bool has_three_dimensions(nb::handle array) {
    return nb::hasattr(array, "ndim") && nb::cast<std::int64_t>(array.attr("ndim")) == 3;
}

// The arrays of tank.h that are only read; nobody writes to them, whatever their type there says.
float* read_only(const Array& array) { return const_cast<float*>(array.read<float>()); }
std::uint8_t* read_only_bytes(const Array& array) { return const_cast<std::uint8_t*>(array.read<std::uint8_t>()); }

void step(nb::handle fish, nb::handle predator, nb::handle alive, nb::handle actions, nb::handle distance,
          nb::handle caught, int threads) {
    const Array swimmers(fish, "fish", Element::float32, Access::write, {4, kAny, kAny});
    const std::int64_t schools = swimmers.length(1);
    const std::int64_t each = swimmers.length(2);
    const Array predators(predator, "predator", Element::float32, Access::write, {4, schools});
    const Array living(alive, "alive", Element::boolean, Access::write, {schools, each});
    const bool freely = has_three_dimensions(actions);
    const Array wanted = freely ? Array(actions, "actions", Element::float32, Access::read, {schools, each, 2})
                                : Array(actions, "actions", Element::int64, Access::read, {schools, each});
    const Array far(distance, "distance", Element::float32, Access::write, {schools, each});
    const Array dying(caught, "caught", Element::boolean, Access::write, {schools, each});
    const fish::Orders orders{freely ? nullptr : wanted.read<std::int64_t>(), freely ? wanted.read<float>() : nullptr};
    const nb::gil_scoped_release released;
    fish::step({number(schools), number(each), swimmers.written<float>(), predators.written<float>(),
                living.written<std::uint8_t>(), far.written<float>(), dying.written<std::uint8_t>()},
               orders, threads);
}

// Of neighbours_of, or None.
class Facts {
  public:
    Facts(nb::handle source, std::int64_t schools, std::int64_t each) {
        if (!source.is_none()) {
            array_.emplace(source, "statistics", Element::float32, Access::read, Lengths{schools, each, fish::kFacts});
        }
    }
    const float* floats() const { return array_ ? array_->read<float>() : nullptr; }

  private:
    std::optional<Array> array_;
};

void look(nb::handle fish, nb::handle predator, nb::handle distance, nb::handle alive, nb::handle out,
          nb::handle statistics, int average_count, int threads) {
    const Array swimmers(fish, "fish", Element::float32, Access::read, {4, kAny, kAny});
    const std::int64_t schools = swimmers.length(1);
    const std::int64_t each = swimmers.length(2);
    const Array predators(predator, "predator", Element::float32, Access::read, {4, schools});
    const Array far(distance, "distance", Element::float32, Access::read, {schools, each});
    const Array living(alive, "alive", Element::boolean, Access::read, {schools, each});
    const Array senses(out, "out", Element::float32, Access::write, {schools, each, kAny});
    const Facts facts(statistics, schools, each);
    const nb::gil_scoped_release released;
    fish::sense({number(schools), number(each), read_only(swimmers), read_only(predators), read_only_bytes(living),
                 read_only(far), nullptr},
                {senses.written<float>(), number(senses.length(2)), facts.floats(), static_cast<float>(average_count)},
                threads);
}

void pay(nb::handle fish, nb::handle distance, nb::handle alive, nb::handle caught, const Prices& prices,
         nb::handle out, nb::handle statistics, int threads) {
    const Array swimmers(fish, "fish", Element::float32, Access::read, {4, kAny, kAny});
    const std::int64_t schools = swimmers.length(1);
    const std::int64_t each = swimmers.length(2);
    const Array far(distance, "distance", Element::float32, Access::read, {schools, each});
    const Array living(alive, "alive", Element::boolean, Access::read, {schools, each});
    const Array dying(caught, "caught", Element::boolean, Access::read, {schools, each});
    const Array paid(out, "out", Element::float32, Access::write, {schools, each});
    const Facts facts(statistics, schools, each);
    const nb::gil_scoped_release released;
    fish::pay({number(schools), number(each), read_only(swimmers), nullptr, read_only_bytes(living), read_only(far),
               read_only_bytes(dying)},
              prices, facts.floats(), paid.written<float>(), threads);
}

void tally(nb::handle reward, nb::handle alive, nb::handle caught, nb::handle steps, nb::handle death_steps,
           nb::handle rewards, nb::handle living, int threads) {
    const Array paid(reward, "reward", Element::float32, Access::read, {kAny, kAny});
    const std::int64_t schools = paid.length(0);
    const std::int64_t each = paid.length(1);
    const Array lives(alive, "alive", Element::boolean, Access::read, {schools, each});
    const Array dying(caught, "caught", Element::boolean, Access::read, {schools, each});
    const Array now(steps, "steps", Element::int32, Access::read, {schools});
    const Array deaths(death_steps, "death_steps", Element::int32, Access::write, {schools, each});
    const Array sums(rewards, "rewards", Element::float64, Access::write, {schools});
    const Array counts(living, "living", Element::int64, Access::write, {schools});
    const nb::gil_scoped_release released;
    fish::tally(
        {number(schools), number(each), nullptr, nullptr, read_only_bytes(lives), nullptr, read_only_bytes(dying)},
        {paid.read<float>(), now.read<std::int32_t>(), deaths.written<std::int32_t>(), sums.written<double>(),
         counts.written<std::int64_t>()},
        threads);
}

}  // namespace

void bind_tank(nb::module_& module) {
    nb::class_<Prices>(module, "Prices", "What a fish is paid for a step.")
        .def(
            "__init__",
            [](Prices* place, float alive, float sight, float out_of_sight, float reach, float wall, float scale,
               float death, bool smooth, float crowd_count, float crowd_target, float crowd, float divergence) {
                new (place) Prices{alive, sight,  out_of_sight, reach,        wall,  scale,
                                   death, smooth, crowd_count,  crowd_target, crowd, divergence};
            },
            nb::kw_only(), "alive"_a, "sight"_a, "out_of_sight"_a, "reach"_a, "wall"_a, "scale"_a, "death"_a,
            "smooth"_a, "crowd_count"_a = 1.0f, "crowd_target"_a = 0.0f, "crowd"_a = 0.0f, "divergence"_a = 0.0f);
    // None is allowed only to be refused with the sentence that other things which are no arrays get.
    module.def("step", &step, "fish"_a.none(), "predator"_a.none(), "alive"_a.none(), "actions"_a.none(),
               "distance"_a.none(), "caught"_a.none(), "threads"_a = 1,
               "Move the living and the predators; write the distances and who is caught.");
    module.def("look", &look, "fish"_a.none(), "predator"_a.none(), "distance"_a.none(), "alive"_a.none(),
               "out"_a.none(), "statistics"_a = nb::none(), "average_count"_a = 1, "threads"_a = 1,
               "Write what each fish senses into out.");
    module.def("pay", &pay, "fish"_a.none(), "distance"_a.none(), "alive"_a.none(), "caught"_a.none(), "prices"_a,
               "out"_a.none(), "statistics"_a = nb::none(), "threads"_a = 1, "Write what each fish is paid into out.");
    module.def("tally", &tally, "reward"_a.none(), "alive"_a.none(), "caught"_a.none(), "steps"_a.none(),
               "death_steps"_a.none(), "rewards"_a.none(), "living"_a.none(), "threads"_a = 1,
               "Write down who was caught when, and what each school was paid and how many of it live.");
}

}  // namespace fish_bindings
