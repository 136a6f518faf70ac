// Which parts of a file have looked for a name, so that whoever changes a declaration finds those
// that it concerns without a look at all others.
#pragma once

#include "frontend/sema/check_chunk.h"

#include <unordered_set>

namespace ptl::ide {

/// It may name chunks that look for a name no more, or that are gone; whoever visits them tells.
class Dependents {
public:
  /// Notes what a check has looked for.
  void add(FileId chunk, const ChunkCheck &check);
  void clear();
  /// How many names are known.
  size_t size() const { return byName_.size(); }

  /// Visits the chunks that looked for a name. Those for which `visit` is false are forgotten.
  template <typename Visit> void visit(std::string_view name, Visit visit) {
    if (auto found = byName_.find(name); found != byName_.end())
      std::erase_if(found->second, [&](FileId chunk) { return !visit(chunk); });
  }
  /// The same with those whose messages list names.
  template <typename Visit> void visitReaders(Visit visit) {
    std::erase_if(readers_, [&](FileId chunk) { return !visit(chunk); });
  }

private:
  StringMap<std::unordered_set<FileId>> byName_;
  std::unordered_set<FileId> readers_;
};

} // namespace ptl::ide
