// The Python module respawn.worlds.mario._engine.
#include <nanobind/nanobind.h>

NB_MODULE(_engine, module) { module.doc() = "NES consoles for training: one call, many of them."; }
