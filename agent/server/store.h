// The results that answers refer to by name: documents, and changes of files that can be applied.
#pragma once

#include "agent/roots.h"
#include "agent/tool_table.h"

#include <list>
#include <map>
#include <optional>

namespace ptl::agent {

struct StoredDocument {
  std::string uri, name, description, type, text;
};

/// Keeps the most recent documents and fixes. One that has been dropped can be made again by
/// repeating the call.
class Store {
public:
  static constexpr size_t kMostBytes = size_t(64) << 20, kMostFixes = 4096;

  /// Takes the documents and fixes out of a worker's message.
  void take(const Json &message);
  const StoredDocument *document(const std::string &uri) const;
  /// The fix of this id; null if there is none.
  const Json *fix(const std::string &id) const;

private:
  std::list<StoredDocument> documents_; ///< the latest last
  size_t bytes_ = 0;
  std::map<std::string, Json> fixes_;
  std::list<std::string> order_; ///< of `fixes_`
};

/// Applies a fix: either all its files are changed or none. The answer says what has changed; if
/// nothing has, `problem` says why.
std::optional<Json> applyFix(const Json &fix, const Roots &roots, std::string &problem);

} // namespace ptl::agent
