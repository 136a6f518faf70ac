// Names of other languages and libraries with their counterparts here: for messages about unknown
// names.
#pragma once

#include <string_view>

namespace ptl {

/// One row of `foreign_names.def`.
struct ForeignName {
  std::string_view name;
  std::string_view ours; ///< the counterpart; empty: no single name is
  std::string_view how;  ///< what to write instead, if that is more than a name
};

/// The row of a name; null if there is none.
const ForeignName *foreignCall(std::string_view name);
const ForeignName *foreignType(std::string_view name);
const ForeignName *foreignValue(std::string_view name);
const ForeignName *foreignArgument(std::string_view name);
const ForeignName *foreignField(std::string_view name);
bool isForeignModule(std::string_view name);

} // namespace ptl
