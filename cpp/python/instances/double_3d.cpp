#include "python/engine_body.hpp"

template class vicinal::Engine<double, 3>;
