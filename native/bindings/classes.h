// What the module consists of; each class is bound in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace bindings {

void bind_cartridge(nanobind::module_& module);
void bind_console(nanobind::module_& module);
void bind_flat_cpu(nanobind::module_& module);
void bind_pool(nanobind::module_& module);

}  // namespace bindings
