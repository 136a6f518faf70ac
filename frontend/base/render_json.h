// Prints diagnostics as JSON; `docs/schemas/diagnostics.md` describes it.
#pragma once

#include "frontend/base/render.h"

namespace ptl {

std::string renderJson(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics);

} // namespace ptl
