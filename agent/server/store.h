// What answers have named: documents, and changes of files that can be made.
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

/// Keeps the latest of both; what has been dropped is made again by the same call.
class Store {
public:
  static constexpr size_t kMostBytes = size_t(64) << 20, kMostFixes = 4096;

  /// Takes what a worker's message has.
  void take(const Json &message);
  const StoredDocument *document(const std::string &uri) const;
  /// Null if there is no such fix.
  const Json *fix(const std::string &id) const;

private:
  std::list<StoredDocument> documents_; ///< the latest last
  size_t bytes_ = 0;
  std::map<std::string, Json> fixes_;
  std::list<std::string> order_; ///< of `fixes_`
};

/// Carries a fix out: all its files, or none. The answer says what has changed; `problem` why nothing has.
std::optional<Json> applyFix(const Json &fix, const Roots &roots, std::string &problem);

} // namespace ptl::agent
