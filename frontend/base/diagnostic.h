// Diagnostics: what went wrong, where, why, and the smallest fix. Codes, names, severities and
// messages live in `diagnostics.def`; this header is how phases report them.
#pragma once

#include "frontend/base/source.h"

#include <functional>
#include <optional>
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
/// Whether the code is one of the lexer: E00xx.
bool isLexical(DiagId id);
/// Whether the code is one of the lexer or the parser: E00xx and E01xx.
bool isSyntaxError(DiagId id);
/// All rows, in order of the table.
const std::vector<DiagInfo> &allDiagInfos();

/// Replace the text of `span` by `text`. An insertion has an empty span.
struct TextEdit {
  Span span;
  std::string text;
};

/// Whether a fix may be applied automatically, without a request for this particular fix.
enum class FixSafety : uint8_t { Certain, Maybe };

/// One entry per row of `fixes.def`, which describes the purpose of each.
enum class FixId : uint8_t {
#define FIX(NAME, SAFETY, WHY) NAME,
#include "frontend/base/fixes.def"
};

/// One row of `fixes.def`.
struct FixInfo {
  FixId id;
  const char *name; ///< `Lookalike`
  FixSafety safety;
  const char *why; ///< the reason for the safety
};

const FixInfo &fixInfo(FixId id);
/// All rows, in order of the table.
const std::vector<FixInfo> &allFixInfos();
/// `certain`, `maybe`
const char *fixSafetyName(FixSafety safety);

/// A name of a module that a file must import. Where the text is inserted depends on the file's
/// other imports.
struct ImportNeed {
  std::string module; ///< `std.nn`
  std::string name;   ///< `silu`; empty: the module itself is imported
};

/// A repair: a title in the imperative and the edits that carry it out. Every fix has a kind, which
/// determines its safety.
struct Fix {
  Fix(FixId id, std::string title, std::vector<TextEdit> edits)
      : id(id), title(std::move(title)), edits(std::move(edits)) {}
  /// `checkFile` fills in the edits; callers that check parts of files do so themselves.
  Fix(FixId id, std::string title, ImportNeed import)
      : id(id), title(std::move(title)), import(std::move(import)) {}

  FixId id;
  std::string title;
  std::vector<TextEdit> edits;
  std::optional<ImportNeed> import;

  bool isCertain() const { return fixInfo(id).safety == FixSafety::Certain; }
};

/// A secondary source location with its explanation.
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
  /// Another report says the mistake, perhaps in another sink, so this one is not shown.
  bool isConsequence = false;

  /// The one fix that may be applied automatically; null if there is none, or more than one.
  const Fix *certainFix() const;
};

/// Adds details to a diagnostic that was just reported. Valid until the next report to the same
/// sink.
class DiagnosticBuilder {
public:
  explicit DiagnosticBuilder(Diagnostic *diagnostic) : diagnostic_(diagnostic) {}
  DiagnosticBuilder &primary(std::string text);
  DiagnosticBuilder &label(Span span, std::string text);
  DiagnosticBuilder &note(std::string text);
  DiagnosticBuilder &help(std::string text);
  /// The report stands for an error, and is not shown.
  DiagnosticBuilder &consequence();
  /// A structured fix; its title is printed too.
  DiagnosticBuilder &fix(FixId id, std::string title, std::vector<TextEdit> edits);
  /// A fix that imports something into the file of the diagnostic.
  DiagnosticBuilder &fix(FixId id, std::string title, ImportNeed import);

private:
  Diagnostic *diagnostic_;
};

/// Collects the diagnostics of one phase or compilation, in the order of reports.
class DiagnosticSink {
public:
  /// Reports a diagnostic; `args` replace `{0}`, `{1}` … in its message.
  DiagnosticBuilder report(DiagId id, Span span, std::vector<std::string> args = {});

  const std::vector<Diagnostic> &all() const { return diagnostics_; }
  /// Mutable, so that a caller can complete reports.
  std::vector<Diagnostic> &all() { return diagnostics_; }
  bool hasErrors() const { return errorCount_ > 0; }
  size_t errorCount() const { return errorCount_; }
  /// Appends all diagnostics of another sink.
  void append(const DiagnosticSink &other);
  /// Removes diagnostics that turn out to be mere consequences of others.
  void removeIf(const std::function<bool(const Diagnostic &)> &isNoise);
  /// Sorts by file and position, stable.
  void sort();

private:
  std::vector<Diagnostic> diagnostics_;
  size_t errorCount_ = 0;
};

} // namespace ptl
