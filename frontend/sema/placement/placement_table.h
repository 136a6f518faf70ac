// The page of the placement rules of all operations. It applies the rules themselves, so it cannot differ from them.
#pragma once

#include <string>

namespace ptl {

/// `docs/placement.md`.
std::string placementTable();

} // namespace ptl
