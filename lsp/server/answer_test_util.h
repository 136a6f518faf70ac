// Answers of handlers, for tests.
#pragma once

#include "lsp/server/session.h"

namespace ptl::lsp {

/// An answer that is JSON text already.
inline json parsed(const json &raw) {
  const auto &bytes = raw.get_binary();
  return json::parse(bytes.begin(), bytes.end());
}

} // namespace ptl::lsp
