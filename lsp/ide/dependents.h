// The parts of a file that have looked up a name, so that after a change of a declaration only
// those that it concerns are visited.
#pragma once

#include "frontend/sema/check_chunk.h"

#include <unordered_set>

namespace ptl::ide {

/// May contain chunks that no longer look up a name, or have been removed; the visitor reports
/// them.
class Dependents {
public:
  /// Records the look-ups of a check.
  void add(FileId chunk, const ChunkCheck &check);
  void clear();
  /// The number of names.
  size_t size() const { return byName_.size(); }

  /// Visits the chunks that looked up a name. Those for which `visit` returns false are forgotten.
  template <typename Visit> void visit(std::string_view name, Visit visit) {
    if (auto found = byName_.find(name); found != byName_.end())
      std::erase_if(found->second, [&](FileId chunk) { return !visit(chunk); });
  }
  /// The same for chunks whose messages list names.
  template <typename Visit> void visitReaders(Visit visit) {
    std::erase_if(readers_, [&](FileId chunk) { return !visit(chunk); });
  }

private:
  StringMap<std::unordered_set<FileId>> byName_;
  std::unordered_set<FileId> readers_;
};

} // namespace ptl::ide
