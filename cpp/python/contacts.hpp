// Contacts that live on from step to step.
#pragma once

#include <nanobind/nanobind.h>

namespace vicinal {

void bind_contacts(nanobind::module_& m);

}  // namespace vicinal
