// Bindings of contacts.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_contacts(nanobind::module_& m);

}  // namespace vicinal
