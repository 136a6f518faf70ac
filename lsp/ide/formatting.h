// Formatting as `ptlc fmt` does it, as the smallest edits. Statements with syntax errors stay as
// they are.
#pragma once

#include "lsp/ide/actions/trial.h"
#include "lsp/ide/document.h"

namespace ptl::ide {

/// Edits of the white space (and of separators that go) that differ, in order.
std::vector<Edit> formatDocument(const Document &document);
/// Those of them on the lines that a range touches.
std::vector<Edit> formatRange(const Document &document, Range range);
/// After `typed` went in before `offset`: behind `}`, `)` or `]` its line and what it closes;
/// behind a line end the indentation of the new line and the line before it. Looks at one chunk
/// alone.
std::vector<Edit> formatOnType(const Document &document, uint32_t offset, char typed);

/// The edits that make `after` of `before`, where the two differ in white space, `;` and `,` alone;
/// line by line where they do not.
std::vector<Edit> textEdits(std::string_view before, std::string_view after);

} // namespace ptl::ide
