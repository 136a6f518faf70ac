// The source locations that the lines of a text came from.
#pragma once

#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace ptl::source {

/// The line with its origin appended after a character that never occurs in source text. So texts
/// can be concatenated like any others, and are separated at the end. `parts` has the locations of
/// operations printed inline in the line.
std::string withOrigin(const std::string &line, mlir::Location origin,
                       const std::vector<mlir::Location> &parts = {});

struct OriginLine {
  std::string text;
  std::optional<mlir::Location> origin;
  std::vector<mlir::Location> all; ///< the origin and the parts
};

/// The lines of a text, with their origins separated.
struct OriginLines {
  std::vector<OriginLine> lines;
  std::string text() const;
};
OriginLines takeOrigins(const std::string &marked);

} // namespace ptl::source
