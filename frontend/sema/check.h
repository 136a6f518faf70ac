// The entry point of the checker: from a file to its checked tree. It never fails: errors are in
// the sink, and the tree is usable in any case (with error types and error nodes).
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"
#include "frontend/sema/names/library_names.h"
#include "machines/machine_set.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptl {

struct CheckOptions {
  std::vector<std::string> importPaths; ///< `-I`; searched after the importing file's folder
  std::string stdPath;                  ///< folder that holds `nn.ptl` … of `std`
  /// The exports of the library, cached between checks; not thread-safe.
  std::shared_ptr<LibraryNames> exports = std::make_shared<LibraryNames>();
  std::map<std::string, std::string> overlays; ///< path → text of files open in an editor
  std::map<std::string, int64_t> defines;      ///< `-D NAME=value`
  /// `--deterministic`: the points of a `parallel` with atomic updates run one after the other, so
  /// that sums of floats are the same in every run.
  bool deterministic = false;
  /// The machines that clauses, schedules and sources may name.
  std::shared_ptr<const MachineSet> machines = std::make_shared<MachineSet>();
};

/// Checks a file and everything it imports. `sources` gets the imported files.
std::unique_ptr<CheckedProgram> checkFile(SourceManager &sources, FileId root,
                                          const CheckOptions &options, DiagnosticSink &sink);

} // namespace ptl
