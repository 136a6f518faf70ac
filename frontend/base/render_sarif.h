// Prints diagnostics as SARIF 2.1.0, for code review tools.
#pragma once

#include "frontend/base/render.h"

namespace ptl {

std::string renderSarif(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics);

} // namespace ptl
