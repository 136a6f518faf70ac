#include "lsp/ide/dependents.h"

namespace ptl::ide {

void Dependents::add(FileId chunk, const ChunkCheck &check) {
  for (const Dependency &each : check.dependencies) {
    auto found = byName_.find(each.name);
    if (found == byName_.end())
      found = byName_.try_emplace(each.name).first;
    found->second.insert(chunk);
  }
  if (check.readsAllNames)
    readers_.insert(chunk);
}

void Dependents::clear() {
  byName_.clear();
  readers_.clear();
}

} // namespace ptl::ide
