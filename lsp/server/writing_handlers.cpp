// Requests that help while writing and reading code: hover, completion, signature help.
#include "lsp/ide/completion.h"
#include "lsp/ide/hover.h"
#include "lsp/ide/signature_help.h"
#include "lsp/server/handlers.h"
#include "lsp/server/movement_times.h"

namespace ptl::lsp {

json hover(Session &session, const json &params) {
  ide::File &file = session.file(params);
  auto found = ide::hoverAt(session.workspace, file, session.offsetIn(file, params));
  if (!found)
    return nullptr;
  if (std::string times = movementTimesAt(session, file, found->range); !times.empty())
    found->markdown += "\n- alone on " + times;
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

// ---- Completion ---------------------------------------------------------------------------------

/// `CompletionItemKind` of the protocol.
static int kindNumber(ide::CompletionKind kind) {
  using Kind = ide::CompletionKind;
  switch (kind) {
  case Kind::Word:
    return 14;
  case Kind::Snippet:
    return 15;
  case Kind::Function:
    return 3;
  case Kind::Struct:
    return 22;
  case Kind::Alias:
    return 7;
  case Kind::ElementType:
  case Kind::Dimension:
    return 25;
  case Kind::Constant:
  case Kind::Tunable:
    return 21;
  case Kind::Variable:
  case Kind::Parameter:
    return 6;
  case Kind::Field:
    return 5;
  case Kind::Tag:
  case Kind::Name:
    return 20;
  case Kind::Module:
    return 9;
  case Kind::File:
    return 17;
  }
  return 1;
}

static json docJson(const ide::DocSource &doc) {
  return {{"kind", static_cast<int>(doc.kind)},
          {"name", doc.name},
          {"path", doc.path},
          {"space", static_cast<int>(doc.space)}};
}

static json itemJson(const Session &session, const ide::File &file, const json &replace,
                     const ide::CompletionItem &item, size_t order) {
  std::string sort = std::to_string(order);
  sort.insert(0, 4 - std::min<size_t>(sort.size(), 4), '0');
  json result = {{"label", item.label}, {"kind", kindNumber(item.kind)}, {"sortText", sort}};
  bool asSnippet = item.isSnippet && session.client.snippets;
  // Without places to fill in, the word alone is written.
  std::string text = item.label;
  if (asSnippet || (!item.isSnippet && !item.insert.empty()))
    text = item.insert;
  else if (item.isSnippet && !item.filter.empty() && item.edits.empty())
    text = item.filter;
  result["textEdit"] = {{"range", replace}, {"newText", std::move(text)}};
  if (asSnippet)
    result["insertTextFormat"] = 2;
  if (!item.filter.empty())
    result["filterText"] = item.filter;
  if (session.client.labelDetails && !(item.signature.empty() && item.detail.empty())) {
    json details = json::object();
    if (!item.signature.empty())
      details["detail"] = item.signature;
    if (!item.detail.empty())
      details["description"] = item.detail;
    result["labelDetails"] = std::move(details);
  } else if (!item.detail.empty() || !item.signature.empty()) {
    result["detail"] = item.signature.empty() ? item.detail : item.label + item.signature;
  }
  for (const ide::Edit &edit : item.edits)
    result["additionalTextEdits"].push_back(
        {{"range", session.range(file, edit.range)}, {"newText", edit.text}});
  if (item.doc.kind != ide::DocSource::Kind::None)
    result["data"] = docJson(item.doc);
  if (!item.help.empty())
    result["documentation"] = session.markup(item.help);
  return result;
}

json completion(Session &session, const json &params) {
  ide::File &file = session.file(params);
  ide::Completions found =
      ide::completionsAt(session.workspace, file, session.offsetIn(file, params));
  json items = json::array();
  json replace = session.range(file, found.replace);
  for (const ide::CompletionItem &item : found.items)
    items.push_back(itemJson(session, file, replace, item, items.size()));
  return {{"isIncomplete", found.isIncomplete}, {"items", std::move(items)}};
}

json resolveCompletion(Session &session, const json &params) {
  json item = params;
  auto data = params.find("data");
  if (data == params.end() || !data->is_object())
    return item;
  int kind = data->value("kind", 0), space = data->value("space", 0);
  if (kind < 0 || kind > static_cast<int>(ide::DocSource::Kind::Word) || space < 0 ||
      space >= static_cast<int>(kDeclSpaces))
    return item;
  ide::DocSource source{static_cast<ide::DocSource::Kind>(kind), data->value("name", ""),
                        data->value("path", ""), static_cast<DeclSpace>(space)};
  std::string text = ide::documentation(session.workspace, source);
  if (!text.empty())
    item["documentation"] = session.markup(text);
  return item;
}

} // namespace ptl::lsp
