// What other languages and libraries call what this one has: for messages about unknown names.
#pragma once

#include <string_view>

namespace ptl {

/// One row of `foreign_names.def`.
struct ForeignName {
  std::string_view name;
  std::string_view ours; ///< what stands in its place; empty: nothing does by itself
  std::string_view how;  ///< what to write instead, where that is more than a name
};

/// Null where the name is none that is known.
const ForeignName *foreignCall(std::string_view name);
const ForeignName *foreignType(std::string_view name);
const ForeignName *foreignValue(std::string_view name);
const ForeignName *foreignArgument(std::string_view name);
const ForeignName *foreignField(std::string_view name);
bool isForeignModule(std::string_view name);

} // namespace ptl
