// Describes what can be called.
#pragma once

#include "lsp/ide/describe.h"

namespace ptl::ide {

/// `layer_norm(x: T[.., C], gamma: T[C], eps: f32 = 1e-5) -> T[.., C]` of a callable or struct.
SignatureLabel signatureOf(const Tree &tree, NodeId declaration);
/// `sum(x: T[..], axis: axes) -> T[reduced]`, one per signature of the record.
std::vector<SignatureLabel> signaturesOf(const OpRecord &op, std::string_view name);

/// Signature in a block of code, documentation below.
std::string declarationMarkdown(const Tree &tree, NodeId declaration, std::string_view module);
/// Signatures, summary, parameters, machines.
std::string opMarkdown(const OpRecord &op, std::string_view name);
std::string codeBlock(std::string_view text);

} // namespace ptl::ide
