// Writing diagnostics out: for people, for grep, for programs (JSON) and for code review tools
// (SARIF 2.1.0). The JSON form is described in `docs/schemas/diagnostics.md`.
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
  /// Columns of source shown of one line; the rest of a longer line is cut away around the place.
  unsigned excerptWidth = 160;
};

/// Renders all diagnostics in the given order, as text with a final line end. `Json` and `Sarif`
/// give one document, also when there are no diagnostics; `Human` and `Short` then give nothing.
std::string renderDiagnostics(const SourceManager &sources,
                              const std::vector<Diagnostic> &diagnostics,
                              const RenderOptions &options);

/// `error`, `warning` or `note`.
const char *severityName(Severity severity);

/// The single renderers behind `renderDiagnostics`.
void renderHuman(std::string &out, const SourceManager &sources, const Diagnostic &diagnostic,
                 const RenderOptions &options);
void renderShort(std::string &out, const SourceManager &sources, const Diagnostic &diagnostic);
std::string renderJson(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics);
std::string renderSarif(const SourceManager &sources, const std::vector<Diagnostic> &diagnostics);

} // namespace ptl
