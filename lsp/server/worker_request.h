// A request to the worker process, and its serialisation: for an open file of which the worker has
// an older text, only the difference is sent.
#pragma once

#include "lsp/ide/document.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptl::lsp {

using json = nlohmann::json;

/// An open file at the time of a request. Copies share the text.
struct OpenText {
  std::string path;
  std::shared_ptr<const ide::Document> document;
};

/// The members of a request (lsp/worker/README.md) without `id`, `method` and `files`, and the open
/// files that it is about.
struct WorkerRequest {
  json members = json::object();
  std::vector<OpenText> files;

  json &operator[](const char *key) { return members[key]; }
  /// The request with the whole text of each file as `files`, for a reader that has none of them.
  json whole() const;
};

/// The texts that a worker process has, of the files that were sent to it.
class SentTexts {
public:
  /// Serialises the request. Afterwards the worker is assumed to have its files.
  std::string written(const WorkerRequest &request, const std::string &method, int64_t id);

private:
  std::string change(const OpenText &file);
  std::vector<std::string> forgotten(const WorkerRequest &request);

  std::vector<OpenText> known_; ///< least recently used first
};

} // namespace ptl::lsp
