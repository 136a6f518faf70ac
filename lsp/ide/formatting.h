// Formatting as in `ptlc fmt`, as minimal edits. Statements with syntax errors are left unchanged.
#pragma once

#include "lsp/ide/actions/trial.h"
#include "lsp/ide/document.h"

namespace ptl::ide {

/// Edits of the white space (and of separators that go) that differ, in order.
std::vector<Edit> formatDocument(const Document &document);
/// Those of them on the lines that a range touches.
std::vector<Edit> formatRange(const Document &document, Range range);
/// Formats after `typed` has been inserted before `offset`. After `}`, `)` or `]` it formats that
/// line and the lines of the bracket; after a line end, the indentation of the new line and the
/// line before it. It inspects one chunk only.
std::vector<Edit> formatOnType(const Document &document, uint32_t offset, char typed);

/// The edits that turn `before` into `after`: single ones where the two differ only in white space,
/// `;` and `,`, otherwise line by line.
std::vector<Edit> textEdits(std::string_view before, std::string_view after);

} // namespace ptl::ide
