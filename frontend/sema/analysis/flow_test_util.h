// For the tests of the analyses: codes and lines, without the warnings of unused names.
#pragma once

#include "frontend/sema/check_test_util.h"

namespace ptl {

inline std::string flowOf(std::string text) {
  auto checked = checkText(std::move(text));
  std::string all;
  for (const Diagnostic &diagnostic : checked->sink.all()) {
    std::string code = diagInfo(diagnostic.id).code;
    LineColumn at = checked->sources.file(diagnostic.span.file).lineColumn(diagnostic.span.begin);
    if (code != "W1201")
      all += code + " " + std::to_string(at.line) + "\n";
  }
  return all;
}

} // namespace ptl
