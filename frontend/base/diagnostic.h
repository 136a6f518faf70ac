// Diagnostics: what went wrong, where, why, and the smallest fix. Codes, names, severities and
// messages live in `diagnostics.def`; this header is how phases report them.
#pragma once

#include "frontend/base/source.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

enum class Severity : uint8_t { Error, Warning, Note };

/// One entry per row of `diagnostics.def`, named after the row: `DiagId::ContractedExtentsDiffer`.
enum class DiagId : uint16_t {
#define DIAG(CODE, NAME, SEVERITY, FLAG, MESSAGE) NAME,
#include "frontend/base/diagnostics.def"
};

/// One row of `diagnostics.def`.
struct DiagInfo {
  DiagId id;
  const char *code;    ///< `E0312`
  const char *name;    ///< `ContractedExtentsDiffer`
  Severity severity;   ///< default severity
  const char *flag;    ///< warning flag for `-W<flag>`, empty for errors
  const char *message; ///< text with `{0}`, `{1}` … for the arguments
};

const DiagInfo &diagInfo(DiagId id);
/// Codes of the lexer: E00xx.
bool isLexical(DiagId id);
/// Codes of errors of the lexer or the parser: E00xx and E01xx.
bool isSyntaxError(DiagId id);
/// All rows, in order of the table.
const std::vector<DiagInfo> &allDiagInfos();

/// Replace the text of `span` by `text`. An insertion has an empty span.
struct TextEdit {
  Span span;
  std::string text;
};

/// A repair: a title in the imperative and the edits that carry it out.
struct Fix {
  std::string title;
  std::vector<TextEdit> edits;
};

/// A secondary place with its explanation.
struct Label {
  Span span;
  std::string text;
};

struct Diagnostic {
  DiagId id;
  Severity severity;
  Span span;
  std::string message;       ///< formatted, lower case, no full stop
  std::string primaryLabel;  ///< text at the caret, may be empty
  std::vector<Label> labels; ///< secondary places
  std::vector<std::string> notes;
  std::vector<std::string> helps;
  std::vector<Fix> fixes;
};

/// Adds detail to a diagnostic that was just reported. Valid until the next report to the same
/// sink.
class DiagnosticBuilder {
public:
  explicit DiagnosticBuilder(Diagnostic *diagnostic) : diagnostic_(diagnostic) {}
  DiagnosticBuilder &primary(std::string text);
  DiagnosticBuilder &label(Span span, std::string text);
  DiagnosticBuilder &note(std::string text);
  DiagnosticBuilder &help(std::string text);
  /// A structured fix; its title is printed as help too.
  DiagnosticBuilder &fix(std::string title, std::vector<TextEdit> edits);

private:
  Diagnostic *diagnostic_;
};

/// Collects the diagnostics of one phase or compilation, in order of report.
class DiagnosticSink {
public:
  /// Reports a diagnostic; `args` replace `{0}`, `{1}` … in its message.
  DiagnosticBuilder report(DiagId id, Span span, std::vector<std::string> args = {});

  const std::vector<Diagnostic> &all() const { return diagnostics_; }
  bool hasErrors() const { return errorCount_ > 0; }
  size_t errorCount() const { return errorCount_; }
  /// Appends all diagnostics of another sink.
  void append(const DiagnosticSink &other);
  /// Takes away what a later look shows to be a consequence of something else.
  void removeIf(const std::function<bool(const Diagnostic &)> &isNoise);
  /// Sorts by file and position, stable.
  void sort();

private:
  std::vector<Diagnostic> diagnostics_;
  size_t errorCount_ = 0;
};

} // namespace ptl
