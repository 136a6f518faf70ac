#include "lsp/server/diagnostics.h"

#include "frontend/base/explain.h"
#include "lsp/server/advice.h"
#include "lsp/server/handlers.h"
#include "lsp/server/later.h"
#include "lsp/server/server.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace ptl::lsp {

namespace fs = std::filesystem;

std::string cacheFolder(const std::string &name) {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  fs::path folder = cache ? fs::path(cache) : home ? fs::path(home) / ".cache" : fs::path();
  if (folder.empty())
    return "";
  folder /= "ptl/" + name;
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? "" : folder.string();
}

std::string writeCrashFile(const std::string &entry, const json &request) {
  std::string folder = cacheFolder("crash");
  if (folder.empty())
    return "";
  std::string name;
  for (char c : entry)
    name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  std::string text = request.dump(1, ' ', false, json::error_handler_t::replace);
  std::string path = folder + "/" + name.substr(0, 64) + "-" +
                     std::to_string(std::hash<std::string>()(text) % 1000000) + ".json";
  std::ofstream stream(path, std::ios::binary);
  stream << text << "\n";
  return stream.good() ? path : "";
}

/// A file with the page of a code, written once, so that every editor can open it; empty when there
/// is no place for it.
static std::string pageUri(const char *code) {
  static std::map<std::string, std::string> known;
  auto [slot, isNew] = known.try_emplace(code);
  if (!isNew)
    return slot->second;
  auto page = explainPage(code);
  fs::path folder = cacheFolder("explain");
  if (!page || folder.empty())
    return "";
  std::error_code error;
  fs::path path = folder / (std::string(code) + ".md");
  if (fs::file_size(path, error) != page->size() || error) {
    std::ofstream stream(path, std::ios::binary);
    stream << *page;
    if (!stream)
      return "";
  }
  return slot->second = Session::uri(path.string());
}

static int severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return 1;
  case Severity::Warning:
    return 2;
  case Severity::Note:
    return 3;
  }
  return 1;
}

/// The message with what the command line prints below it. Labels go into it only when the client
/// cannot show them where they are.
static std::string textOf(const Diagnostic &diagnostic, bool withLabels) {
  std::string text = diagnostic.message;
  if (!diagnostic.primaryLabel.empty())
    text += "\n" + diagnostic.primaryLabel;
  if (withLabels)
    for (const Label &label : diagnostic.labels)
      text += "\n" + label.text;
  for (const std::string &note : diagnostic.notes)
    text += "\nnote: " + note;
  for (const std::string &help : diagnostic.helps)
    text += "\nhelp: " + help;
  return text;
}

static bool isUnused(DiagId id) { return id == DiagId::UnusedLocal || id == DiagId::UnusedImport; }

static json toJson(Session &session, const ide::File &file, const ide::FileDiagnostic &each) {
  const Diagnostic &diagnostic = *each.diagnostic;
  const DiagInfo &info = diagInfo(diagnostic.id);
  json out = {{"range", session.range(file, each.range)},
              {"severity", severityOf(diagnostic.severity)},
              {"code", info.code},
              {"source", "ptl"},
              {"message", textOf(diagnostic, !session.client.relatedInformation)}};
  if (session.client.codeDescription)
    if (std::string uri = pageUri(info.code); !uri.empty())
      out["codeDescription"] = {{"href", uri}};
  if (session.client.diagnosticTags && isUnused(diagnostic.id))
    out["tags"] = {1};
  if (!session.client.relatedInformation || diagnostic.labels.empty())
    return out;
  json related = json::array();
  for (const Label &label : diagnostic.labels)
    if (ide::Location location = session.workspace.locate(label.span))
      related.push_back({{"location", session.location(location)}, {"message", label.text}});
  out["relatedInformation"] = std::move(related);
  return out;
}

static void addFailures(Session &session, const ide::File &file, json &list) {
  for (const CompilerFailure &failure : session.failures) {
    if (failure.path != file.path())
      continue;
    ide::Range range{0, 0};
    for (const ide::Place &place : file.document.places())
      for (const ide::ChunkDecl &each : place.chunk->decls)
        if (each.decl.name == failure.entry)
          range = {place.begin + each.decl.span.begin, place.begin + each.decl.span.end};
    list.push_back({{"range", session.range(file, range)},
                    {"severity", severityOf(Severity::Warning)},
                    {"code", diagInfo(DiagId::CompilerFault).code},
                    {"source", "ptl"},
                    {"message", failure.message}});
  }
}

json diagnosticsOf(Session &session, ide::File &file) {
  while (session.workspace.checkNext(file)) {
  }
  json list = json::array();
  for (const ide::FileDiagnostic &each : session.workspace.diagnostics(file))
    list.push_back(toJson(session, file, each));
  addFailures(session, file, list);
  forEachVerdict(session, file, [&](const ide::FileDiagnostic &each, const std::string &) {
    list.push_back(toJson(session, file, each));
  });
  addAdvice(session, file, list);
  return session.typing.shown(file, std::move(list));
}

// ---- Sending ------------------------------------------------------------------------------------

/// Checks one chunk of a file whose diagnostics are due, or sends them. False when none is due.
bool Server::publishDue() {
  if (unpublished_.empty()) {
    if (!refreshDue_)
      return false;
    refreshDue_ = false;
    refreshHints();
    refreshLenses();
    if (session.client.refreshesTokens)
      request("workspace/semanticTokens/refresh", nullptr);
    if (session.client.refreshesDiagnostics && session.client.pullsDiagnostics)
      request("workspace/diagnostic/refresh", nullptr);
    return false;
  }
  // A file whose check fails is not due any more; it would fail again at once.
  auto due = unpublished_.extract(unpublished_.begin());
  ide::File *file = session.workspace.find(due.key());
  if (!file || !file->isOpen)
    return true;
  if (session.workspace.checkNext(*file))
    unpublished_.insert(std::move(due));
  else
    publish(*file);
  return true;
}

void Server::publish(ide::File &file) {
  // A client that asks for diagnostics gets them when it asks.
  if (session.client.pullsDiagnostics)
    return;
  published_.insert(file.path());
  notify("textDocument/publishDiagnostics", {{"uri", Session::uri(file.path())},
                                             {"version", file.version},
                                             {"diagnostics", diagnosticsOf(session, file)}});
}

void Server::restLater(uint64_t milliseconds) {
  // A timer that runs already sees this edit, too.
  if (std::exchange(isRestDue_, true))
    return;
  auto onTime = [this] {
    isRestDue_ = false;
    uint64_t now = uv_now(loop_);
    if (now < typedAt_ + Typing::kRest)
      restLater(typedAt_ + Typing::kRest - now);
    else
      sayHeld();
  };
  later(loop_, milliseconds, {onTime, reportProblem});
}

void Server::sayHeld() {
  std::unordered_set<std::string> held = session.typing.holding();
  session.typing.rest();
  for (const std::string &path : held)
    diagnosticsChanged(path);
}

// ---- Requests -----------------------------------------------------------------------------------

static json report(Session &session, ide::File &file, const std::string &previous) {
  json items = diagnosticsOf(session, file);
  std::string id = std::to_string(std::hash<json>()(items));
  if (id == previous)
    return {{"kind", "unchanged"}, {"resultId", id}};
  return {{"kind", "full"}, {"resultId", id}, {"items", std::move(items)}};
}

json documentDiagnostic(Session &session, const json &params) {
  return report(session, session.file(params), params.value("previousResultId", ""));
}

json workspaceDiagnostic(Session &session, const json &params) {
  std::map<std::string, std::string> previous;
  for (const json &each : params.value("previousResultIds", json::array()))
    previous[each.at("uri")] = each.at("value");
  json items = json::array();
  for (const std::string &path : session.workspaceFiles()) {
    ide::File *file = session.workspace.load(path);
    if (!file)
      continue;
    std::string uri = Session::uri(file->path());
    json item = report(session, *file, previous[uri]);
    item["uri"] = uri;
    item["version"] = file->isOpen ? json(file->version) : json();
    items.push_back(std::move(item));
  }
  return {{"items", std::move(items)}};
}

} // namespace ptl::lsp
