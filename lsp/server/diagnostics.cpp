#include "lsp/server/diagnostics.h"

#include "frontend/base/explain.h"
#include "lsp/server/advice.h"
#include "lsp/server/cache_folder.h"
#include "lsp/server/finding.h"
#include "lsp/server/handlers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

namespace ptl::lsp {

namespace fs = std::filesystem;

/// A file with the page of a code, written once, so that every editor can open it; empty when there
/// is no place for it.
static std::string pageUri(const char *code) {
  static std::map<std::string, std::string> known;
  auto [slot, isNew] = known.try_emplace(code);
  // A page that could not be written is remembered as empty, so it is not tried for each
  // diagnostic.
  if (!isNew)
    return slot->second;
  auto page = explainPage(code);
  fs::path folder = cacheFolder("explain");
  if (!page || folder.empty())
    return "";
  std::error_code error;
  fs::path path = folder / (std::string(code) + ".md");
  // The page of another version of the compiler nearly always has another size.
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

static PlacedFinding findingOf(Session &session, const ide::File &file,
                               const ide::FileDiagnostic &each, uint32_t origin) {
  const Diagnostic &diagnostic = *each.diagnostic;
  const DiagInfo &info = diagInfo(diagnostic.id);
  FindingParts parts{severityOf(diagnostic.severity), info.code,
                     textOf(diagnostic, !session.client.relatedInformation)};
  if (session.client.codeDescription)
    parts.page = pageUri(info.code);
  parts.isUnneeded = session.client.diagnosticTags && isUnused(diagnostic.id);
  if (session.client.relatedInformation)
    for (const Label &label : diagnostic.labels)
      if (ide::Location location = session.workspace.locate(label.span))
        parts.related.emplace_back(location, label.text);
  return findingAt(session, file, each.range, std::move(parts), origin);
}

namespace {

/// The findings that are cached with a chunk, for its last check and the name of its file.
struct KeptFindings {
  mutable std::weak_ptr<const ChunkCheck> check;
  mutable std::string path;
  mutable std::vector<std::shared_ptr<const Finding>> findings; ///< as the check's diagnostics

  void renew(const ide::Place &place, const ide::File &file) const {
    // A pointer to a check that is gone may be that of a new one; comparing owners tells them
    // apart.
    bool isSame = !check.owner_before(place.check) && !place.check.owner_before(check);
    if (isSame && path == file.path())
      return;
    check = place.check;
    path = file.path();
    findings.assign(place.check->diagnostics.size(), nullptr);
  }
};

} // namespace

/// Whether all that a diagnostic shows moves together.
static bool isOfOneChunk(const Diagnostic &diagnostic) {
  return std::ranges::all_of(diagnostic.labels, [&](const Label &label) {
    return label.span.file == diagnostic.span.file;
  });
}

static PlacedFinding keptFindingOf(Session &session, const ide::File &file,
                                   const ide::FileDiagnostic &each) {
  // What names lines of other chunks has to be written again when those move.
  if (!each.place || !isOfOneChunk(*each.diagnostic))
    return findingOf(session, file, each, 0);
  const auto &kept = each.place->chunk->memo.get<KeptFindings>([] { return KeptFindings(); });
  kept.renew(*each.place, file);
  // Diagnostics of a check lie in one array, so the address gives the number.
  auto index = static_cast<size_t>(each.diagnostic - each.place->check->diagnostics.data());
  std::shared_ptr<const Finding> &finding = kept.findings[index];
  if (!finding)
    finding = findingOf(session, file, each, each.place->line).finding;
  return {finding, each.place->line};
}

static void addFailures(Session &session, const ide::File &file, std::vector<PlacedFinding> &list) {
  for (const CompilerFailure &failure : session.failures) {
    if (failure.path != file.path())
      continue;
    ide::Range range{0, 0};
    for (const ide::Place &place : file.document.places())
      for (const ide::ChunkDecl &each : place.chunk->decls)
        if (each.decl.name == failure.entry)
          range = {place.begin + each.decl.span.begin, place.begin + each.decl.span.end};
    FindingParts parts{severityOf(Severity::Warning), diagInfo(DiagId::CompilerFault).code,
                       failure.message};
    list.push_back(findingAt(session, file, range, std::move(parts)));
  }
}

std::string diagnosticsOf(Session &session, ide::File &file) {
  // The answer is about all of the file, so nothing may be left to check.
  while (session.workspace.checkNext(file)) {
  }
  std::vector<PlacedFinding> list;
  for (const ide::FileDiagnostic &each : session.workspace.diagnostics(file))
    list.push_back(keptFindingOf(session, file, each));
  addFailures(session, file, list);
  forEachVerdict(session, file, [&](const ide::FileDiagnostic &each, const std::string &) {
    list.push_back(findingOf(session, file, each, 0));
  });
  addAdvice(session, file, list);
  return jsonText(session.typing.shown(file, std::move(list)));
}

// ---- Requests -----------------------------------------------------------------------------------

/// A report of one file as JSON text, to which `members` are added.
static std::string report(Session &session, ide::File &file, const std::string &previous,
                          const std::string &members = "") {
  std::string items = diagnosticsOf(session, file);
  // The text itself identifies the report, so the same findings after an edit need not be sent
  // again.
  std::string id = std::to_string(std::hash<std::string>()(items));
  std::string begin = "{" + members + "\"resultId\":\"" + id + "\",\"kind\":";
  return id == previous ? begin + "\"unchanged\"}" : begin + "\"full\",\"items\":" + items + "}";
}

json documentDiagnostic(Session &session, const json &params) {
  return rawJson(report(session, session.file(params), params.value("previousResultId", "")));
}

json workspaceDiagnostic(Session &session, const json &params) {
  std::map<std::string, std::string> previous;
  for (const json &each : params.value("previousResultIds", json::array()))
    previous[each.at("uri")] = each.at("value");
  std::string items;
  for (const std::string &path : session.workspaceFiles()) {
    ide::File *file = session.workspace.load(path);
    if (!file)
      continue;
    std::string uri = Session::uri(file->path());
    std::string version = file->isOpen ? std::to_string(file->version) : "null";
    std::string members = "\"uri\":" + jsonText(uri) + ",\"version\":" + version + ",";
    items += (items.empty() ? "" : ",") + report(session, *file, previous[uri], members);
  }
  return rawJson("{\"items\":[" + items + "]}");
}

} // namespace ptl::lsp
