#include "frontend/base/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace ptl {

const std::vector<DiagInfo> &allDiagInfos() {
  static const std::vector<DiagInfo> infos = {
#define DIAG(CODE, NAME, SEVERITY, FLAG, MESSAGE)                                                  \
  {DiagId::NAME, CODE, #NAME, Severity::SEVERITY, FLAG, MESSAGE},
#include "frontend/base/diagnostics.def"
  };
  return infos;
}

const DiagInfo &diagInfo(DiagId id) { return allDiagInfos()[static_cast<size_t>(id)]; }

const std::vector<FixInfo> &allFixInfos() {
  static const std::vector<FixInfo> infos = {
#define FIX(NAME, SAFETY, WHY) {FixId::NAME, #NAME, FixSafety::SAFETY, WHY},
#include "frontend/base/fixes.def"
  };
  return infos;
}

const FixInfo &fixInfo(FixId id) { return allFixInfos()[static_cast<size_t>(id)]; }

const char *fixSafetyName(FixSafety safety) {
  return safety == FixSafety::Certain ? "certain" : "maybe";
}

static std::string formatMessage(std::string_view pattern, const std::vector<std::string> &args) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    bool isArgument = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' &&
                      pattern[i + 1] >= '0' && pattern[i + 1] <= '9';
    if (!isArgument) {
      text += pattern[i];
      continue;
    }
    size_t index = static_cast<size_t>(pattern[i + 1] - '0');
    text += index < args.size() ? args[index] : "?";
    i += 2;
  }
  return text;
}

DiagnosticBuilder &DiagnosticBuilder::primary(std::string text) {
  diagnostic_->primaryLabel = std::move(text);
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::label(Span span, std::string text) {
  diagnostic_->labels.push_back({span, std::move(text)});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::note(std::string text) {
  diagnostic_->notes.push_back(std::move(text));
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::consequence() {
  diagnostic_->isConsequence = true;
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::help(std::string text) {
  diagnostic_->helps.push_back(std::move(text));
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::fix(FixId id, std::string title,
                                          std::vector<TextEdit> edits) {
  diagnostic_->fixes.emplace_back(id, std::move(title), std::move(edits));
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::fix(FixId id, std::string title, ImportNeed import) {
  diagnostic_->fixes.emplace_back(id, std::move(title), std::move(import));
  return *this;
}

const Fix *Diagnostic::certainFix() const {
  const Fix *only = nullptr;
  for (const Fix &fix : fixes) {
    if (!fix.isCertain())
      continue;
    if (only)
      return nullptr;
    only = &fix;
  }
  return only;
}

DiagnosticBuilder DiagnosticSink::report(DiagId id, Span span, std::vector<std::string> args) {
  const DiagInfo &info = diagInfo(id);
  diagnostics_.push_back(
      {id, info.severity, span, formatMessage(info.message, args), {}, {}, {}, {}, {}});
  if (info.severity == Severity::Error)
    ++errorCount_;
  return DiagnosticBuilder(&diagnostics_.back());
}

void DiagnosticSink::append(const DiagnosticSink &other) {
  diagnostics_.insert(diagnostics_.end(), other.diagnostics_.begin(), other.diagnostics_.end());
  errorCount_ += other.errorCount_;
}

void DiagnosticSink::removeIf(const std::function<bool(const Diagnostic &)> &isNoise) {
  std::erase_if(diagnostics_, isNoise);
  errorCount_ = static_cast<size_t>(
      std::count_if(diagnostics_.begin(), diagnostics_.end(),
                    [](const Diagnostic &d) { return d.severity == Severity::Error; }));
}

bool isLexical(DiagId id) { return std::string_view(diagInfo(id).code).starts_with("E00"); }

bool isSyntaxError(DiagId id) {
  return isLexical(id) || std::string_view(diagInfo(id).code).starts_with("E01");
}

void DiagnosticSink::sort() {
  std::stable_sort(
      diagnostics_.begin(), diagnostics_.end(), [](const Diagnostic &a, const Diagnostic &b) {
        return std::tie(a.span.file, a.span.begin) < std::tie(b.span.file, b.span.begin);
      });
}

} // namespace ptl
