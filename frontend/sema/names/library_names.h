// What the modules of the standard library export: for names that a file misses.
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

/// Reads the files of the library when the first name is missed, and keeps what they export.
class LibraryNames {
public:
  /// In order of modules and names. `folder` holds `nn.ptl` …; what cannot be read exports nothing.
  const std::vector<LibraryExport> &in(const std::string &folder);

private:
  std::string folder_;
  bool isRead_ = false;
  std::vector<LibraryExport> exports_;
};

} // namespace ptl
