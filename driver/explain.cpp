#include "frontend/base/explain.h"

#include "driver/commands.h"

#include <cstdio>

namespace ptl {

static void listCodes() {
  for (const DiagInfo &info : allDiagInfos())
    std::printf("%s  %s\n", info.code, info.message);
}

ExitCode runExplain(const Options &options) {
  if (options.positional().empty())
    listCodes();
  for (const std::string &code : options.positional()) {
    std::optional<std::string_view> page = explainPage(code);
    if (!page) {
      std::string message = "there is no diagnostic `" + code + "`";
      std::string_view separator = "; did you mean ";
      for (std::string_view similar : similarCodes(code, 3)) {
        message += std::string(separator) + "`" + std::string(similar) + "`";
        separator = " or ";
      }
      // At least one similar code was named.
      if (separator == " or ")
        message += "?";
      return usageError(message);
    }
    std::fwrite(page->data(), 1, page->size(), stdout);
  }
  return ExitCode::Fine;
}

} // namespace ptl
