#include "python/engine_body.hpp"

template class vicinal::Engine<float, 2>;
