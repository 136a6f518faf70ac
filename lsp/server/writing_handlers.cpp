// What helps while writing and reading code: hover, completion, signature help, inlay hints.
#include "lsp/ide/hover.h"
#include "lsp/ide/signature_help.h"
#include "lsp/server/handlers.h"

namespace ptl::lsp {

json hover(Session &session, const json &params) {
  ide::File &file = session.file(params);
  auto found = ide::hoverAt(session.workspace, file, session.offsetIn(file, params));
  if (!found)
    return nullptr;
  return {{"contents", session.markup(found->markdown)},
          {"range", session.range(file, found->range)}};
}

// ---- Signature help -----------------------------------------------------------------------------

static json signatureJson(const Session &session, const ide::SignatureHelp::Signature &signature) {
  json parameters = json::array();
  std::string_view text = signature.label.text;
  for (const ide::SignatureParam &param : signature.label.params) {
    json label = {session.length(text.substr(0, param.begin)),
                  session.length(text.substr(0, param.end))};
    json parameter = {{"label", std::move(label)}};
    if (!param.doc.empty())
      parameter["documentation"] = session.markup(param.doc);
    parameters.push_back(std::move(parameter));
  }
  json result = {{"label", signature.label.text}, {"parameters", std::move(parameters)}};
  if (!signature.doc.empty())
    result["documentation"] = session.markup(signature.doc);
  // Behind the last parameter none is active.
  size_t active = signature.activeParam < 0 ? signature.label.params.size()
                                            : static_cast<size_t>(signature.activeParam);
  result["activeParameter"] = active;
  return result;
}

json signatureHelp(Session &session, const json &params) {
  ide::File &file = session.file(params);
  auto help = ide::signatureHelpAt(session.workspace, file, session.offsetIn(file, params));
  if (!help)
    return nullptr;
  json signatures = json::array();
  for (const auto &signature : help->signatures)
    signatures.push_back(signatureJson(session, signature));
  json active = signatures[help->active]["activeParameter"];
  return {{"signatures", std::move(signatures)},
          {"activeSignature", help->active},
          {"activeParameter", std::move(active)}};
}

} // namespace ptl::lsp
