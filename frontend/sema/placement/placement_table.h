// The rules of placement of all operations as a page, made by asking the rules.
#pragma once

#include <string>

namespace ptl {

/// `docs/placement.md`.
std::string placementTable();

} // namespace ptl
