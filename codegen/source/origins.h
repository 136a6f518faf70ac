// Where the lines of a text came from.
#pragma once

#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace ptl::source {

/// The line with its origin behind a character that no source has: texts are put together like any
/// other, and taken apart in the end.
std::string withOrigin(const std::string &line, mlir::Location origin);

struct OriginLines {
  std::string text;                                   ///< as it is read
  std::vector<std::optional<mlir::Location>> origins; ///< of each line
};
OriginLines takeOrigins(const std::string &marked);

} // namespace ptl::source
