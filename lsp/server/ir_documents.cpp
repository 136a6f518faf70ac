#include "lsp/server/ir_documents.h"

#include <algorithm>

namespace ptl::lsp {

bool IrDocuments::isIr(const std::string &languageId, const std::string &uri) {
  return languageId == "mlir" || uri.ends_with(".mlir") || uri.starts_with("ptl-ir:");
}

/// The byte of a position. Characters are counted as bytes: dumped IR is ASCII.
static size_t offsetOf(const std::string &text, const json &position) {
  size_t at = 0;
  for (int64_t line = position.at("line").get<int64_t>(); line > 0 && at != text.npos; --line)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return std::min(at + position.at("character").get<size_t>(), text.size());
}

void IrDocuments::edit(const std::string &uri, const json &changes) {
  std::string &text = texts_.at(uri);
  for (const json &change : changes) {
    std::string replacement = change.at("text").get<std::string>();
    auto where = change.find("range");
    if (where == change.end() || !where->is_object()) {
      text = std::move(replacement);
      continue;
    }
    size_t begin = offsetOf(text, where->at("start"));
    // The end may lie before the start in a broken message.
    size_t end = std::max(begin, offsetOf(text, where->at("end")));
    text.replace(begin, end - begin, replacement);
  }
}

bool IrDocuments::isAsked(const json &params) const {
  auto document = params.find("textDocument");
  return document != params.end() && document->is_object() && contains(document->value("uri", ""));
}

} // namespace ptl::lsp
