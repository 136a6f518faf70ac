// The open documents in languages that PTL becomes (`.mlir`): dumped IR, which is looked at and
// hardly edited.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace ptl::lsp {

using json = nlohmann::json;

/// Their texts by URI, which are kept and not checked. Hover and definition know what to do with
/// them; other features do not.
class IrDocuments {
public:
  /// Whether a document that is opened is one of them.
  static bool isIr(const std::string &languageId, const std::string &uri);

  void open(const std::string &uri, std::string text) { texts_[uri] = std::move(text); }
  /// Applies `contentChanges` to one that is open. Places beyond the text count as its end.
  void edit(const std::string &uri, const json &changes);
  /// Returns whether there was one.
  bool close(const std::string &uri) { return texts_.erase(uri) > 0; }

  bool contains(const std::string &uri) const { return texts_.contains(uri); }
  const std::string &text(const std::string &uri) const { return texts_.at(uri); }
  /// Whether the parameters of a request speak of one.
  bool isAsked(const json &params) const;

private:
  std::map<std::string, std::string> texts_;
};

} // namespace ptl::lsp
