// The signatures of the call that is being typed.
#pragma once

#include "lsp/ide/describe.h"

#include <optional>

namespace ptl::ide {

struct SignatureHelp {
  struct Signature {
    SignatureLabel label;
    std::string doc;      ///< Markdown
    int activeParam = -1; ///< -1: none
  };
  std::vector<Signature> signatures;
  size_t active = 0;
};

/// Returns nothing outside the parentheses of calls.
std::optional<SignatureHelp> signatureHelpAt(Workspace &workspace, File &file, uint32_t offset);

} // namespace ptl::ide
