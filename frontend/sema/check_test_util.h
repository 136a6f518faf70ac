// A helper for tests of the checker: takes source text and returns diagnostics.
#pragma once

#include "frontend/sema/check.h"
#include "frontend/sema/dump/dump.h"

#include <memory>
#include <string>

namespace ptl {

struct Checked {
  SourceManager sources;
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program;

  /// One line per diagnostic: `E0201 2:12 unknown name …`.
  std::string text() const {
    std::string all;
    for (const Diagnostic &diagnostic : sink.all()) {
      LineColumn at = sources.file(diagnostic.span.file).lineColumn(diagnostic.span.begin);
      all += std::string(diagInfo(diagnostic.id).code) + " " + std::to_string(at.line) + ":" +
             std::to_string(at.column) + " " + diagnostic.message + "\n";
    }
    return all;
  }
};

/// Further files are given in `options.overlays`, by their paths.
inline std::unique_ptr<Checked> checkText(std::string text, const CheckOptions &options = {}) {
  auto checked = std::make_unique<Checked>();
  FileId root = checked->sources.add("test.ptl", std::move(text));
  checked->program = checkFile(checked->sources, root, options, checked->sink);
  return checked;
}

inline std::string diagnosticsOf(std::string text, const CheckOptions &options = {}) {
  return checkText(std::move(text), options)->text();
}

} // namespace ptl
