// The texts of open files, which are kept between requests: a request contains only what has
// changed.
#pragma once

#include "lsp/worker/channel.h"

#include <string>
#include <unordered_map>

namespace ptl::worker {

class Texts {
public:
  /// Replaces each change among the `files` of a request by the whole text of its file, and forgets
  /// the files that the request names. Returns an error message; empty: there is no error.
  std::string complete(Json &request);

private:
  std::unordered_map<std::string, std::string> byPath_;
};

} // namespace ptl::worker
