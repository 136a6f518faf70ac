// The call graph of a file. Checks keep it up to date, so that the search for recursion after an
// edit visits only what the edit changed.
#pragma once

#include "lsp/ide/document.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptl::ide {

class CallGraph {
public:
  /// Records the calls that a check of a chunk found.
  void checked(FileId chunk, const ChunkCheck &check);
  /// Records that a chunk has been removed.
  void removed(FileId chunk) { hashOf_.erase(chunk); }
  /// Records that names refer to other declarations than before, or that reported cycles have
  /// moved.
  void forget() { isForgotten_ = true; }

  /// Whether the last result of `find` may be incomplete or outdated.
  bool isDue() const { return isForgotten_ || !changed_.empty(); }
  /// Finds the cycles among the declarations of `places`. `known` is the last result;
  /// `areDuplicates` says whether names are declared twice.
  void find(std::span<const Place> places, bool areDuplicates, DiagnosticSink &known);

private:
  bool leadsBack(const std::string &caller) const;
  void findAll(std::span<const Place> places, DiagnosticSink &sink);

  std::unordered_map<FileId, uint64_t> hashOf_; ///< of the calls in a chunk
  /// By the name of the caller. It may still contain callers that have been removed.
  StringMap<std::vector<std::string>> callees_;
  std::vector<std::string> changed_; ///< callers whose calls have changed since the last search
  bool isForgotten_ = false;
};

} // namespace ptl::ide
