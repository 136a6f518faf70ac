// Generates the page about the placement rules of all operations. It applies the rules themselves,
// so it cannot contradict them.
#pragma once

#include <string>

namespace ptl {

/// The text of `docs/placement.md`.
std::string placementTable();

} // namespace ptl
