// What helps while writing and reading code: hover, completion, signature help, inlay hints.
#include "lsp/ide/hover.h"
#include "lsp/ide/inlay_hints.h"
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

// ---- Inlay hints --------------------------------------------------------------------------------

static json hintJson(const Session &session, const ide::File &file, const ide::InlayHint &hint) {
  json parts = json::array();
  for (const ide::LabelPart &part : hint.label) {
    json each = {{"value", part.text}};
    if (part.definition.file)
      if (ide::Location location = session.workspace.locate(part.definition))
        each["location"] = session.location(location);
    parts.push_back(std::move(each));
  }
  bool isParameter = hint.kind == ide::HintKind::Parameter;
  return {{"position", session.position(file, hint.offset)},
          {"label", std::move(parts)},
          {"kind", isParameter ? 2 : 1},
          {"data",
           {{"uri", Session::uri(file.path())},
            {"offset", hint.offset},
            {"version", file.version},
            {"kind", static_cast<int>(hint.kind)}}}};
}

json inlayHints(Session &session, const json &params) {
  ide::File &file = session.file(params);
  const Settings &settings = session.settings;
  ide::HintOptions options{settings.typeHints, settings.capacityHints, settings.parameterHints};
  json hints = json::array();
  for (const ide::InlayHint &hint :
       ide::inlayHints(session.workspace, file, session.range(file, params.at("range")), options))
    hints.push_back(hintJson(session, file, hint));
  return hints;
}

json resolveInlayHint(Session &session, const json &params) {
  json hint = params;
  const json &data = params.at("data");
  ide::File &file = session.fileOfUri(data.at("uri").get<std::string>());
  int kind = data.at("kind").get<int>();
  // A hint of another text stays as it is.
  if (data.at("version") != file.version || kind < 0 ||
      kind > static_cast<int>(ide::HintKind::Parameter))
    return hint;
  auto offset = std::min(data.at("offset").get<uint32_t>(), file.document.size());
  auto details =
      ide::hintDetails(session.workspace, file, offset, static_cast<ide::HintKind>(kind));
  if (!details)
    return hint;
  if (!details->tooltip.empty())
    hint["tooltip"] = session.markup(details->tooltip);
  if (details->insertion)
    hint["textEdits"] = json::array(
        {{{"range", session.range(file, ide::Range{offset, offset})}, {"newText", *details->insertion}}});
  return hint;
}

} // namespace ptl::lsp
