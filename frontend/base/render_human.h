// Prints one diagnostic for people, with excerpts of the source.
#pragma once

#include "frontend/base/render.h"

namespace ptl {

void renderHuman(std::string &out, const SourceManager &sources, const Diagnostic &diagnostic,
                 const RenderOptions &options);

} // namespace ptl
