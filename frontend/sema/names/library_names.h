// The exports of the standard library's modules: to suggest imports for unknown names.
#pragma once

#include "frontend/sema/module_index.h"

#include <string>
#include <string_view>
#include <vector>

namespace ptl {

struct LibraryExport {
  std::string module; ///< `std.nn`
  std::string name;   ///< `silu`
  DeclSpace space = DeclSpace::Callable;
};

/// Reads the files of the library at the first unknown name, and caches their exports.
class LibraryNames {
public:
  /// The exports, sorted by module and name. `folder` contains `nn.ptl` …; files that cannot be
  /// read export nothing.
  const std::vector<LibraryExport> &in(const std::string &folder);

private:
  std::string folder_;
  bool isRead_ = false;
  std::vector<LibraryExport> exports_;
};

} // namespace ptl
