// Code actions, lenses.
#include "lsp/ide/code_actions.h"
#include "lsp/ide/explicit_offer.h"
#include "lsp/ide/lenses.h"
#include "lsp/ide/navigation.h"
#include "lsp/ide/symbol_at.h"
#include "lsp/server/advice.h"
#include "lsp/server/connection.h"
#include "lsp/server/handlers.h"
#include "lsp/server/movement_times.h"
#include "lsp/server/placed_text.h"

#include <algorithm>

namespace ptl::lsp {

// ---- Code actions -------------------------------------------------------------------------------

static json editJson(const Session &session, const std::vector<ide::FileEdit> &edits) {
  std::vector<std::pair<ide::Location, std::string>> located;
  for (const ide::FileEdit &edit : edits)
    located.push_back({{edit.file, edit.range}, edit.text});
  return session.workspaceEdit(located);
}

static json keyJson(const Session &session, const ide::File &file, const ide::ActionKey &key) {
  return {{"uri", session.uri(file.path())},
          {"version", file.version},
          {"id", key.id},
          {"begin", key.range.begin},
          {"end", key.range.end},
          {"variant", key.variant},
          {"code", key.code}};
}

/// The client's own diagnostics that an action repairs, as it sent them.
static json repaired(const Session &session, const ide::File &file, const json &given,
                     const ide::FileDiagnostic &diagnostic) {
  json found = json::array();
  json start = session.position(file, diagnostic.range.begin);
  if (given.is_array())
    for (const json &each : given)
      if (each.is_object() &&
          each.value("code", json()) == diagInfo(diagnostic.diagnostic->id).code &&
          each.value("range", json::object()).value("start", json()) == start)
        found.push_back(each);
  return found;
}

static json actionJson(Session &session, ide::File &file, ide::CodeAction &action,
                       const json &diagnostics) {
  json result = {{"title", action.title}, {"kind", ide::actionKindId(action.kind)}};
  if (action.isPreferred)
    result["isPreferred"] = true;
  if (action.diagnostic)
    if (json own = repaired(session, file, diagnostics, *action.diagnostic); !own.empty())
      result["diagnostics"] = std::move(own);
  if (!action.disabled.empty()) {
    result["disabled"] = {{"reason", action.disabled}};
    return result;
  }
  // The edits cannot be asked for later, so they are computed now.
  if (!action.isResolved && !session.client.resolvesActions) {
    action.edits = ide::resolveAction(session.workspace, file, action.key).edits;
    if (action.edits.empty())
      return nullptr;
    action.isResolved = true;
  }
  if (action.isResolved)
    result["edit"] = editJson(session, action.edits);
  else
    result["data"] = keyJson(session, file, action.key);
  return result;
}

/// For clients that know commands only.
static json asCommand(const json &action) {
  return {{"title", action.at("title")},
          {"command", "ptl.server.applyEdit"},
          {"arguments", {action.value("edit", json::object())}}};
}

/// The fixes of what chips say of the range.
static void addChipFixes(Session &session, const ide::File &file, const json &params,
                         json &answer) {
  json given = params.value("context", json::object()).value("diagnostics", json());
  ide::Range range = session.range(file, params.at("range"));
  forEachVerdict(session, file, [&](const ide::FileDiagnostic &each, const std::string &target) {
    if (each.range.end < range.begin || range.end < each.range.begin)
      return;
    for (const Fix &fix : each.diagnostic->fixes) {
      std::vector<std::pair<ide::Location, std::string>> edits;
      for (const TextEdit &edit : fix.edits)
        if (ide::Location at = session.workspace.locate(edit.span))
          edits.push_back({at, edit.text});
      // Half of a fix could break the program.
      if (edits.empty() || edits.size() < fix.edits.size())
        continue;
      json action = {
          {"title", fix.title + (session.settings.targets.size() > 1 ? " (" + target + ")" : "")},
          {"kind", ide::actionKindId(ide::ActionKind::QuickFix)},
          {"edit", session.workspaceEdit(edits)}};
      if (json own = repaired(session, file, given, each); !own.empty())
        action["diagnostics"] = std::move(own);
      answer.push_back(session.client.codeActionLiterals ? std::move(action) : asCommand(action));
    }
  });
}

/// The actions whose edits the worker finds (deferred.h): tiles, and for each chip buffers and
/// events.
static void addExplicitActions(Session &session, ide::File &file, ide::Range range,
                               const std::vector<std::string> &only, json &answer) {
  bool isWanted = only.empty() || std::any_of(only.begin(), only.end(), [](const auto &kind) {
                    return ide::isWithin(ide::ActionKind::Rewrite, kind);
                  });
  if (!isWanted || !session.client.codeActionLiterals || !session.client.resolvesActions)
    return;
  std::optional<ide::ExplicitOffer> offer = ide::explicitOffer(session.workspace, file, range);
  if (!offer || (!offer->disabled.empty() && !session.client.disabledActions))
    return;
  auto add = [&](const std::string &title, const std::string &stage) {
    json action = {{"title", title}, {"kind", ide::actionKindId(ide::ActionKind::Rewrite)}};
    if (!offer->disabled.empty())
      action["disabled"] = {{"reason", offer->disabled}};
    else
      action["data"] = {{"uri", session.uri(file.path())}, {"version", file.version},
                        {"explicit", offer->entry},        {"stage", stage},
                        {"begin", offer->range.begin},     {"end", offer->range.end}};
    answer.push_back(std::move(action));
  };
  add("Make tiles explicit", "explicit");
  for (const std::string &target : session.settings.chips())
    add("Make buffers and events explicit (" + target + ")", "manual@" + target);
}

/// Behind a fix that inserts a movement: how long that takes.
static void addMovementTime(Session &session, ide::File &file, ide::CodeAction &action) {
  if (action.fix != FixId::Movement || session.settings.targets.empty())
    return;
  auto movement = ide::movementAfter(session.workspace, file, action.edits);
  if (std::string times = movement ? movementTimes(session, *movement) : ""; !times.empty())
    action.title += "; " + times;
}

json codeAction(Session &session, const json &params) {
  ide::File &file = session.file(params);
  json context = params.value("context", json::object());
  std::vector<std::string> only;
  if (json kinds = context.value("only", json()); kinds.is_array())
    for (const json &kind : kinds)
      only.push_back(kind.get<std::string>());
  json answer = json::array();
  if (only.empty() || std::any_of(only.begin(), only.end(), [](const std::string &id) {
        return ide::isWithin(ide::ActionKind::QuickFix, id);
      })) {
    addChipFixes(session, file, params, answer);
    for (json &action : adviceActions(session, file, params))
      answer.push_back(session.client.codeActionLiterals ? std::move(action) : asCommand(action));
  }
  for (ide::CodeAction &action :
       ide::codeActions(session.workspace, file, session.range(file, params.at("range")), only)) {
    if (!action.disabled.empty() && !session.client.disabledActions)
      continue;
    addMovementTime(session, file, action);
    json each = actionJson(session, file, action, context.value("diagnostics", json()));
    if (each.is_null())
      continue;
    if (session.client.codeActionLiterals)
      answer.push_back(std::move(each));
    // Without literals an action is a command, which can only carry an edit.
    else if (each.contains("edit"))
      answer.push_back(asCommand(each));
  }
  addExplicitActions(session, file, session.range(file, params.at("range")), only, answer);
  return answer;
}

json resolveCodeAction(Session &session, const json &params) {
  json action = params;
  if (!params.contains("data"))
    return action;
  const json &data = params.at("data");
  ide::File &file = session.fileOfUri(data.at("uri").get<std::string>());
  if (data.at("version") != file.version)
    throw RequestError{kContentModified, "the text has changed"};
  ide::ActionKey key;
  key.id = data.at("id").get<std::string>();
  key.range = {data.at("begin").get<uint32_t>(), data.at("end").get<uint32_t>()};
  key.variant = data.at("variant").get<int>();
  key.code = data.at("code").get<std::string>();
  ide::ResolvedAction resolved = ide::resolveAction(session.workspace, file, key);
  if (!resolved.refused.empty())
    throw RequestError{kRequestFailed, resolved.refused};
  action["edit"] = editJson(session, resolved.edits);
  return action;
}

// ---- Lenses -------------------------------------------------------------------------------------

static json commandOf(const Session &session, const std::string &uri, const ide::Lens &lens) {
  const ide::LensInfo &info = ide::lensInfo(lens.kind);
  json arguments = {uri, lens.name};
  if (lens.kind == ide::LensKind::ShowPreview)
    arguments.push_back(session.settings.previewStage);
  std::string command(info.command);
  if (session.settings.lensCommands == "server")
    command.insert(std::string_view("ptl.").size(), "server.");
  return {{"title", info.title}, {"command", command}, {"arguments", std::move(arguments)}};
}

/// Begins the next lens of the list with its range; whoever calls adds the rest and closes it.
static void beginLens(const Session &session, const ide::Chunk &chunk, const ide::Lens &lens,
                      PlacedText &out) {
  out.text += out.text.empty() ? "{\"range\":" : ",{\"range\":";
  auto positionOf = [&](uint32_t offset) {
    LineColumn at = chunk.file.lineColumn(offset);
    return ide::LineByte{at.line - 1, at.column - 1};
  };
  out.range(session, chunk, positionOf(lens.range.begin), positionOf(lens.range.end));
}

/// A view of the declaration on each machine of the settings. Of this processor there is no timeline.
/// The machine is named only where there are several.
static void addViewLenses(const Session &session, const std::string &uri, const ide::Chunk &chunk,
                          const ide::Lens &lens, PlacedText &out) {
  const std::vector<std::string> &targets = session.settings.targets;
  for (const std::string &target : targets) {
    if (lens.kind == ide::LensKind::Timeline && target == "cpu")
      continue;
    json command = commandOf(session, uri, lens);
    if (targets.size() > 1)
      command["title"] = target + ": " + command.value("title", "");
    command["arguments"].push_back(target);
    beginLens(session, chunk, lens, out);
    out.text += ",\"command\":" + dumped(command) + "}";
  }
}

/// What each machine of the settings says, which is found when the lens is resolved.
static void addChipLenses(const Session &session, const std::string &uri, const ide::Chunk &chunk,
                          const ide::Lens &lens, PlacedText &out) {
  for (const std::string &target : session.settings.targets) {
    beginLens(session, chunk, lens, out);
    out.text +=
        ",\"data\":" + dumped({{"uri", uri}, {"entry", lens.name}, {"target", target}}) + "}";
  }
}

/// For which lengths the times of all chips are; a click chooses others.
static void addSizesLens(const Session &session, const std::string &uri, const ide::Chunk &chunk,
                         const ide::Lens &lens, PlacedText &out) {
  if (session.settings.targets.empty())
    return;
  beginLens(session, chunk, lens, out);
  out.text += ",\"data\":" + dumped({{"uri", uri}, {"entry", lens.name}}) + "}";
}

/// Whoever has kernels and has said nothing of chips is asked, above the first of them.
static std::string targetsLens(const Session &session, const ide::File &file) {
  if (!session.settings.targets.empty() || session.settings.lensCommands != "client")
    return "";
  std::vector<ChipEntry> entries = chipEntries(file.document);
  if (entries.empty())
    return "";
  uint32_t begin = file.document.places()[entries.front().place].begin;
  ide::Range range{begin + entries.front().range.begin, begin + entries.front().range.end};
  json command = commandOf(session, Session::uri(file.path()), {ide::LensKind::Targets, {}, ""});
  command["arguments"].erase(1);
  return dumped({{"range", session.range(file, range)}, {"command", std::move(command)}});
}

/// What is known already, or the number of references, which is counted when the lens is resolved.
static void addPlainLens(const Session &session, const std::string &uri, const ide::Chunk &chunk,
                         const ide::Lens &lens, PlacedText &out) {
  bool isCount = lens.kind == ide::LensKind::References;
  if (isCount && !session.settings.referenceLenses)
    return;
  beginLens(session, chunk, lens, out);
  out.text += isCount ? ",\"data\":" + jsonText(uri)
                      : ",\"command\":" + dumped(commandOf(session, uri, lens));
  out.text += '}';
}

static PlacedText lensText(const Session &session, const std::string &uri,
                           const ide::Chunk &chunk) {
  PlacedText out;
  for (const ide::Lens &lens : ide::lenses(chunk))
    switch (lens.kind) {
    case ide::LensKind::Chip:
      addChipLenses(session, uri, chunk, lens, out);
      break;
    case ide::LensKind::Sizes:
      addSizesLens(session, uri, chunk, lens, out);
      break;
    case ide::LensKind::Timeline:
    case ide::LensKind::Graph:
      addViewLenses(session, uri, chunk, lens, out);
      break;
    default:
      addPlainLens(session, uri, chunk, lens, out);
    }
  return out;
}

/// The lenses that are cached with a chunk, for the settings and the name of the file.
struct ChunkLenses {
  mutable std::string key;
  mutable PlacedText text;
};

json codeLens(Session &session, const json &params) {
  ide::File &file = session.file(params);
  if (!session.settings.lenses)
    return json::array();
  std::string uri = session.uri(file.path());
  std::string key = uri + " " + session.settings.previewStage + " " +
                    session.settings.lensCommands + (session.settings.referenceLenses ? "+" : "");
  for (const std::string &target : session.settings.targets)
    key += " " + target;
  std::vector<const std::string *> parts;
  for (const ide::Place &place : file.document.places()) {
    const auto &kept = place.chunk->memo.get<ChunkLenses>([] { return ChunkLenses(); });
    if (kept.key != key) {
      kept.text = lensText(session, uri, *place.chunk);
      kept.key = key;
    }
    parts.push_back(&kept.text.at(place.line));
  }
  std::vector<std::string> advice = adviceLenses(session, file);
  for (const std::string &lens : advice)
    parts.push_back(&lens);
  std::string offer = targetsLens(session, file);
  parts.push_back(&offer);
  return rawArray(parts);
}

/// The last verdict of a chip as the title of a lens; a click shows the chip's memories. Without a
/// chip the lens is that of the lengths.
static json chipCommand(Session &session, const json &data) {
  std::string uri = data.at("uri"), entry = data.at("entry"), target = data.value("target", "");
  std::string path = session.fileOfUri(uri).path();
  bool isOfSizes = target.empty();
  ide::Lens lens{isOfSizes ? ide::LensKind::Sizes : ide::LensKind::Chip, {}, entry};
  json command = commandOf(session, uri, lens);
  command["title"] =
      isOfSizes ? sizesLens(session, path, entry) : verdictLens(session, path, entry, target);
  if (!isOfSizes)
    command["arguments"].push_back(target);
  return command;
}

/// Counts what names the declaration.
json resolveCodeLens(Session &session, const json &params) {
  json lens = params;
  if (!params.contains("data"))
    return lens;
  if (params["data"].is_object()) {
    const json &data = params["data"];
    lens["command"] = chipCommand(session, data);
    // Clients that show a text beside a lens get what it has no room for.
    if (std::string target = data.value("target", ""); !target.empty())
      lens["data"]["tooltip"] =
          verdictTitle(session, session.fileOfUri(data.at("uri")).path(), data.at("entry"), target);
    return lens;
  }
  ide::File &file = session.fileOfUri(params.at("data").get<std::string>());
  uint32_t offset = session.offset(file, params.at("range").at("start"));
  size_t count = 0;
  if (auto symbol = ide::symbolAt(session.workspace, file, offset)) {
    std::vector<std::string> paths = session.workspaceFiles();
    for (const ide::Mention &mention : ide::mentions(session.workspace, *symbol, paths))
      count += mention.access != ide::Access::Declare;
  }
  std::string title = std::to_string(count) + (count == 1 ? " reference" : " references");
  lens["command"] = {{"title", title}, {"command", ""}};
  return lens;
}

} // namespace ptl::lsp
