// Where the lines of a text came from.
#pragma once

#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace ptl::source {

/// The line with its origin behind a character that no source has: texts are put together like any
/// other, and taken apart in the end. `parts`: what else is written in it.
std::string withOrigin(const std::string &line, mlir::Location origin,
                       const std::vector<mlir::Location> &parts = {});

struct OriginLine {
  std::string text;
  std::optional<mlir::Location> origin;
  std::vector<mlir::Location> all; ///< the origin and the parts
};

/// As they are read.
struct OriginLines {
  std::vector<OriginLine> lines;
  std::string text() const;
};
OriginLines takeOrigins(const std::string &marked);

} // namespace ptl::source
