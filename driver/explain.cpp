#include "frontend/base/explain.h"

#include "driver/commands.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/json.h"
#include "frontend/base/render.h"

#include <cctype>
#include <cstdio>

namespace ptl {

static void listCodes() {
  for (const DiagInfo &info : allDiagInfos())
    std::printf("%s  %s\n", info.code, info.message);
}

/// The document of docs/schemas/explain.json.
static std::string pageDocument(std::string_view code, std::string_view page) {
  JsonWriter json;
  json.beginObject().field("version", 1).field("code", code);
  for (const DiagInfo &info : allDiagInfos())
    if (code == info.code)
      json.field("name", info.name)
          .field("severity", severityName(info.severity))
          .field("message", info.message);
  json.field("page", page).endObject();
  return json.take();
}

ExitCode runExplain(const Options &options) {
  if (options.positional().empty())
    listCodes();
  const bool isJson = options.has(OptionId::Json);
  for (std::string code : options.positional()) {
    // Codes are written with a capital letter, but are easier to type without.
    for (char &c : code)
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
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
    std::string text = isJson ? pageDocument(code, *page) : std::string(*page);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return ExitCode::Fine;
}

} // namespace ptl
