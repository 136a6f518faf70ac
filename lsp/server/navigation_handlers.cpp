// Definitions, references, renaming, calls, links, folding and selection.
#include "lsp/ide/call_hierarchy.h"
#include "lsp/ide/folding.h"
#include "lsp/ide/move_files.h"
#include "lsp/ide/navigation.h"
#include "lsp/ide/rename.h"
#include "lsp/ide/symbol_at.h"
#include "lsp/server/handlers.h"

#include <filesystem>

namespace ptl::lsp {

// ---- Ways to declarations -----------------------------------------------------------------------

static json linkJson(const Session &session, const ide::File &from,
                     const std::optional<ide::Link> &link) {
  if (!link)
    return nullptr;
  // Without links the client gets the name alone, as in older versions of the protocol.
  if (!session.client.definitionLinks)
    return session.location(link->name);
  const ide::File &file = *link->name.file;
  return json::array({{{"originSelectionRange", session.range(from, link->origin)},
                       {"targetUri", Session::uri(file.path())},
                       {"targetRange", session.range(file, link->whole.range)},
                       {"targetSelectionRange", session.range(file, link->name.range)}}});
}

json definition(Session &session, const json &params) {
  ide::File &file = session.file(params);
  return linkJson(session, file,
                  ide::definition(session.workspace, file, session.offsetIn(file, params)));
}

json declaration(Session &session, const json &params) { return definition(session, params); }

json typeDefinition(Session &session, const json &params) {
  ide::File &file = session.file(params);
  return linkJson(session, file,
                  ide::typeDefinition(session.workspace, file, session.offsetIn(file, params)));
}

// ---- References ---------------------------------------------------------------------------------

json references(Session &session, const json &params) {
  ide::File &file = session.file(params);
  json found = json::array();
  auto symbol = ide::symbolAt(session.workspace, file, session.offsetIn(file, params));
  if (!symbol)
    return found;
  bool wantsDeclaration = params.value("context", json::object()).value("includeDeclaration", true);
  std::vector<std::string> paths = session.workspaceFiles();
  for (const ide::Mention &mention : ide::mentions(session.workspace, *symbol, paths))
    if (wantsDeclaration || mention.access != ide::Access::Declare)
      found.push_back(session.location(mention.location));
  return found;
}

json documentHighlight(Session &session, const json &params) {
  ide::File &file = session.file(params);
  json found = json::array();
  enum { Read = 2, Write = 3 };
  for (const ide::Mention &mention :
       ide::highlights(session.workspace, file, session.offsetIn(file, params)))
    found.push_back({{"range", session.range(file, mention.location.range)},
                     {"kind", mention.access == ide::Access::Read ? Read : Write}});
  return found;
}

json linkedEditingRange(Session &session, const json &params) {
  ide::File &file = session.file(params);
  auto ranges = ide::linkedRanges(session.workspace, file, session.offsetIn(file, params));
  if (ranges.empty())
    return nullptr;
  json list = json::array();
  for (ide::Range range : ranges)
    list.push_back(session.range(file, range));
  return {{"ranges", std::move(list)}, {"wordPattern", "[A-Za-z_][A-Za-z0-9_]*"}};
}

// ---- Renaming -----------------------------------------------------------------------------------

json prepareRename(Session &session, const json &params) {
  ide::File &file = session.file(params);
  ide::RenameRange found =
      ide::prepareRename(session.workspace, file, session.offsetIn(file, params));
  if (!found.error.empty())
    throw RequestError{kRequestFailed, found.error};
  return {{"range", session.range(file, found.range)}, {"placeholder", found.name}};
}

json rename(Session &session, const json &params) {
  ide::File &file = session.file(params);
  std::string name = params.at("newName").get<std::string>();
  std::vector<std::string> paths = session.workspaceFiles();
  ide::Rename found =
      ide::rename(session.workspace, file, session.offsetIn(file, params), name, paths);
  if (!found.error.empty())
    throw RequestError{kRequestFailed, found.error};
  std::vector<std::pair<ide::Location, std::string>> edits;
  for (const ide::Location &location : found.edits)
    edits.emplace_back(location, name);
  return session.workspaceEdit(edits);
}

/// The imports that name the files. Folders are moved with all that is in them.
json willRenameFiles(Session &session, const json &params) {
  auto normalPath = [](const json &uri) {
    std::string path = Session::pathOfUri(uri.get<std::string>());
    path = std::filesystem::path(path).lexically_normal().string();
    // Clients name folders with and without a slash at the end.
    return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  };
  std::vector<ide::FileMove> moves;
  for (const json &file : params.at("files"))
    moves.push_back({normalPath(file.at("oldUri")), normalPath(file.at("newUri"))});
  if (moves.empty())
    return nullptr;
  std::vector<std::string> paths = session.workspaceFiles();
  auto edits = ide::editsForMoves(session.workspace, moves, paths);
  return edits.empty() ? json() : session.workspaceEdit(edits);
}

// ---- Calls --------------------------------------------------------------------------------------

static json itemJson(const Session &session, const ide::CallItem &item) {
  enum { Method = 6, Function = 12 };
  const ide::File &file = *item.whole.file;
  return {{"name", item.name},
          {"kind", item.type == ide::SymbolType::Word ? Method : Function},
          {"detail", file.index.name},
          {"uri", Session::uri(file.path())},
          {"range", session.range(file, item.whole.range)},
          {"selectionRange", session.range(file, item.selection.range)}};
}

json prepareCallHierarchy(Session &session, const json &params) {
  ide::File &file = session.file(params);
  auto item = ide::callItemAt(session.workspace, file, session.offsetIn(file, params));
  return item ? json::array({itemJson(session, *item)}) : json();
}

/// The file and byte that an item of the client means.
static std::pair<ide::File &, uint32_t> placeOfItem(Session &session, const json &params) {
  const json &item = params.at("item");
  ide::File &file = session.fileOfUri(item.at("uri").get<std::string>());
  return {file, session.offset(file, item.at("selectionRange").at("start"))};
}

static json callsJson(const Session &session, const std::vector<ide::Calls> &all,
                      const char *itemName, const ide::File *caller) {
  json list = json::array();
  for (const ide::Calls &calls : all) {
    // The places of outgoing calls lie in the caller, those of incoming ones in the file of the
    // item.
    const ide::File &file = caller ? *caller : *calls.item.whole.file;
    json places = json::array();
    for (ide::Range range : calls.places)
      places.push_back(session.range(file, range));
    list.push_back({{itemName, itemJson(session, calls.item)}, {"fromRanges", std::move(places)}});
  }
  return list;
}

json incomingCalls(Session &session, const json &params) {
  auto [file, offset] = placeOfItem(session, params);
  std::vector<std::string> paths = session.workspaceFiles();
  return callsJson(session, ide::incomingCalls(session.workspace, file, offset, paths), "from",
                   nullptr);
}

json outgoingCalls(Session &session, const json &params) {
  auto [file, offset] = placeOfItem(session, params);
  return callsJson(session, ide::outgoingCalls(session.workspace, file, offset), "to", &file);
}

// ---- Links, folding, selection ------------------------------------------------------------------

json documentLink(Session &session, const json &params) {
  ide::File &file = session.file(params);
  json links = json::array();
  for (const ide::ImportLink &link : ide::importLinks(session.workspace, file))
    links.push_back({{"range", session.range(file, link.range)},
                     {"target", Session::uri(link.path)},
                     {"tooltip", link.path}});
  return links;
}

json foldingRange(Session &session, const json &params) {
  std::string list = "[";
  for (const ide::Fold &fold : ide::folds(session.file(params).document)) {
    list += list.size() > 1 ? ",{\"startLine\":" : "{\"startLine\":";
    list += std::to_string(fold.first);
    list += ",\"endLine\":";
    list += std::to_string(fold.last);
    if (fold.kind != ide::FoldKind::Code)
      list +=
          fold.kind == ide::FoldKind::Comment ? ",\"kind\":\"comment\"" : ",\"kind\":\"imports\"";
    list += '}';
  }
  return rawJson(list += "]");
}

json selectionRange(Session &session, const json &params) {
  ide::File &file = session.file(params);
  json list = json::array();
  for (const json &position : params.at("positions")) {
    auto ranges = ide::selectionRanges(file.document, session.offset(file, position));
    json outer;
    // Each range holds the next outer one as its parent, so the outermost is made first.
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
      json inner = {{"range", session.range(file, *range)}};
      if (!outer.is_null())
        inner["parent"] = std::move(outer);
      outer = std::move(inner);
    }
    list.push_back(std::move(outer));
  }
  return list;
}

} // namespace ptl::lsp
