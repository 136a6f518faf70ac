// The part of a declaration that callers depend on, as text.
#pragma once

#include "frontend/syntax/tree.h"

#include <string>

namespace ptl {

/// The source of a declaration without its body; the whole declaration if it has no body.
std::string signatureText(const Tree &tree, NodeId declaration);

/// The same on one line, for messages and manifests.
std::string signatureLine(const Tree &tree, NodeId declaration);

} // namespace ptl
