// Who calls whom in a file, kept up to date by what checks find, so that a look for recursion after an edit
// looks at what the edit changed.
#pragma once

#include "lsp/ide/document.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptl::ide {

class CallGraph {
public:
  /// Notes the calls that a check of a chunk found.
  void checked(FileId chunk, const ChunkCheck &check);
  /// Notes that a chunk is gone.
  void removed(FileId chunk) { hashOf_.erase(chunk); }
  /// Notes that names stand for other declarations than before, or that what was found has moved.
  void forget() { isForgotten_ = true; }

  /// Whether the recursion that was found last may be no longer all, or no longer true.
  bool isDue() const { return isForgotten_ || !changed_.empty(); }
  /// The recursion among the declarations of `places`. `known` is what was found last, `areDuplicates`
  /// whether names are declared twice.
  void find(std::span<const Place> places, bool areDuplicates, DiagnosticSink &known);

private:
  bool leadsBack(const std::string &caller) const;
  void findAll(std::span<const Place> places, DiagnosticSink &sink);

  std::unordered_map<FileId, uint64_t> hashOf_; ///< of the calls in a chunk
  /// By the name of the caller. Callers that are gone may still be in it.
  StringMap<std::vector<std::string>> callees_;
  std::vector<std::string> changed_; ///< callers with other calls than when it was looked last
  bool isForgotten_ = false;
};

} // namespace ptl::ide
