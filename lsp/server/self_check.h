// Implements `ptl-lsp --check`: every request at every token of a file, answered in this process.
#pragma once

namespace ptl::lsp {

/// Prints failures: an exception of a handler, or a range outside its file. Returns the exit code:
/// 0, 1 when something failed, 3 when a file cannot be read.
int selfCheck(char **firstFile, char **endFile);

} // namespace ptl::lsp
