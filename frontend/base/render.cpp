#include "frontend/base/render.h"
#include "frontend/base/render_human.h"
#include "frontend/base/render_json.h"
#include "frontend/base/render_sarif.h"

#include <iterator>

namespace ptl {

static constexpr const char *kFormatNames[] = {"human", "short", "json", "sarif"};

std::optional<DiagnosticFormat> parseDiagnosticFormat(std::string_view name) {
  for (size_t i = 0; i < std::size(kFormatNames); ++i)
    if (name == kFormatNames[i])
      return static_cast<DiagnosticFormat>(i);
  return std::nullopt;
}

const char *severityName(Severity severity) {
  static constexpr const char *names[] = {"error", "warning", "note"};
  return names[static_cast<size_t>(severity)];
}

void renderShort(std::string &out, const SourceManager &sources, const Diagnostic &diagnostic) {
  if (diagnostic.span.file != kNoFile) {
    const SourceFile &file = sources.file(diagnostic.span.file);
    LineColumn place = file.lineColumn(diagnostic.span.begin);
    out +=
        file.path() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  }
  out += severityName(diagnostic.severity);
  out += std::string("[") + diagInfo(diagnostic.id).code + "]: " + diagnostic.message + "\n";
}

std::string renderDiagnostics(const SourceManager &sources,
                              const std::vector<Diagnostic> &diagnostics,
                              const RenderOptions &options) {
  if (options.format == DiagnosticFormat::Json)
    return renderJson(sources, diagnostics);
  if (options.format == DiagnosticFormat::Sarif)
    return renderSarif(sources, diagnostics);
  std::string out;
  for (const Diagnostic &diagnostic : diagnostics) {
    if (options.format == DiagnosticFormat::Short) {
      renderShort(out, sources, diagnostic);
      continue;
    }
    if (!out.empty())
      out += '\n';
    renderHuman(out, sources, diagnostic, options);
  }
  return out;
}

} // namespace ptl
