// The part of a declaration that callers must know, as text.
#pragma once

#include "frontend/syntax/tree.h"

#include <string>

namespace ptl {

/// The source of a declaration without its body: the whole of one that has none.
std::string signatureText(const Tree &tree, NodeId declaration);

/// The same on one line, for messages and manifests.
std::string signatureLine(const Tree &tree, NodeId declaration);

} // namespace ptl
