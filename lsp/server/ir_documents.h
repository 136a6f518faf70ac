// The open documents in languages that PTL is compiled to (`.mlir`): dumped IR, which is read and
// rarely edited.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace ptl::lsp {

using json = nlohmann::json;

/// Their texts by URI, which are stored and not checked. Only hover and definition use them.
class IrDocuments {
public:
  /// Whether a document that is opened is one of them.
  static bool isIr(const std::string &languageId, const std::string &uri);

  void open(const std::string &uri, std::string text) { texts_[uri] = std::move(text); }
  /// Applies `contentChanges` to an open document. Positions beyond the text mean its end.
  void edit(const std::string &uri, const json &changes);
  /// Returns whether there was one.
  bool close(const std::string &uri) { return texts_.erase(uri) > 0; }

  bool contains(const std::string &uri) const { return texts_.contains(uri); }
  const std::string &text(const std::string &uri) const { return texts_.at(uri); }
  /// Whether the parameters of a request name one of them.
  bool isAsked(const json &params) const;

private:
  std::map<std::string, std::string> texts_;
};

} // namespace ptl::lsp
