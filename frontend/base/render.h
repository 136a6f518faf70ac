// Prints diagnostics: for people, for grep, for programs (JSON) and for code review tools (SARIF
// 2.1.0). `docs/schemas/diagnostics.md` describes the JSON form.
#pragma once

#include "frontend/base/diagnostic.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

enum class DiagnosticFormat : uint8_t { Human, Short, Json, Sarif };

/// `human`, `short`, `json`, `sarif`; nothing for any other word.
std::optional<DiagnosticFormat> parseDiagnosticFormat(std::string_view name);

struct RenderOptions {
  DiagnosticFormat format = DiagnosticFormat::Human;
  bool color = false; ///< ANSI colours, `Human` only
  /// The number of columns shown of a source line; a longer line is cut off on both sides of the
  /// location.
  unsigned excerptWidth = 160;
};

/// Prints all diagnostics in the given order, as text with a final line end. `Json` and `Sarif`
/// give one document even if there are no diagnostics; `Human` and `Short` then give an empty text.
std::string renderDiagnostics(const SourceManager &sources,
                              const std::vector<Diagnostic> &diagnostics,
                              const RenderOptions &options);

/// `error`, `warning` or `note`.
const char *severityName(Severity severity);

/// One diagnostic as one line, for grep.
void renderShort(std::string &out, const SourceManager &sources, const Diagnostic &diagnostic);

} // namespace ptl
