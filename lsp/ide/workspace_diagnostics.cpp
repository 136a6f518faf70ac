// What a file's diagnostics are: those of its chunks and of the file, in order.
#include "lsp/ide/workspace.h"

#include <algorithm>
#include <utility>

namespace ptl::ide {

namespace {

/// Puts the diagnostics of a file together from those of its chunks.
struct Assembly {
  const Workspace &workspace;
  File &file;
  std::vector<FileDiagnostic> all;
  size_t lexical = 0, syntactic = 0; ///< errors so far
  bool hasErrors = false;

  void add(const Diagnostic &diagnostic, const Place &place, bool isOfCheck) {
    Range range{place.begin + diagnostic.span.begin, place.begin + diagnostic.span.end};
    all.push_back({&diagnostic, range, isOfCheck ? &place : nullptr});
  }
  void addOfChunk(const Place &place, const Diagnostic &diagnostic);
  void addOfFile(const DiagnosticSink &sink);
  bool isConsequence(const Place &place, Span span) const;
};

/// A file has so many errors of one kind, however many chunks it has.
void Assembly::addOfChunk(const Place &place, const Diagnostic &diagnostic) {
  bool isOfCheck = place.check != nullptr;
  hasErrors |= diagnostic.severity == Severity::Error;
  if (!isSyntaxError(diagnostic.id))
    return add(diagnostic, place, isOfCheck);
  // Lexical errors and others have a limit each.
  size_t &count = isLexical(diagnostic.id) ? lexical : syntactic;
  if (++count <= kMaxSyntaxErrors)
    return add(diagnostic, place, isOfCheck);
  // The first syntax error beyond the limit says that there are too many; lexical ones just stop.
  if (&count != &syntactic || count > kMaxSyntaxErrors + 1)
    return;
  file.tooMany = {};
  file.tooMany.report(DiagId::TooManyErrors, diagnostic.span, {std::to_string(kMaxSyntaxErrors)});
  add(file.tooMany.all().front(), place, false);
}

/// Whether a diagnostic is on the line of a syntax error, and so probably only a consequence of it.
bool Assembly::isConsequence(const Place &place, Span span) const {
  auto lineOf = [&](Span each) { return place.chunk->file.lineColumn(each.begin).line; };
  for (const Diagnostic &syntax : place.chunk->syntax.all())
    if (isSyntaxError(syntax.id) && lineOf(syntax.span) == lineOf(span))
      return true;
  return false;
}

void Assembly::addOfFile(const DiagnosticSink &sink) {
  for (const Diagnostic &diagnostic : sink.all()) {
    const Place *place = file.document.placeOf(diagnostic.span.file);
    hasErrors |= diagnostic.severity == Severity::Error;
    if (place && !isConsequence(*place, diagnostic.span))
      add(diagnostic, *place, false);
  }
}

} // namespace

/// Whether a chunk uses an import, as far as is known: one that is not checked may use any.
static bool mayUse(const Place &place, const std::string &import) {
  return !place.check || std::find(place.check->usedImports.begin(), place.check->usedImports.end(),
                                   import) != place.check->usedImports.end();
}

/// Whether no chunk uses an import. The one that was found to use it last is looked at first.
static bool isUnused(File &file, const std::string &import) {
  std::span<const Place> places = file.document.places();
  FileId &user = file.userOf[import];
  std::optional<size_t> last = file.document.indexOf(user);
  if (last && mayUse(places[*last], import))
    return false;
  for (const Place &place : places)
    if (mayUse(place, import)) {
      user = place.id;
      return false;
    }
  return true;
}

static void addUnusedImports(File &file, DiagnosticSink &sink) {
  for (const auto *map : {&file.index.modules, &file.index.names})
    for (const auto &[name, import] : *map)
      if (isUnused(file, name))
        sink.report(DiagId::UnusedImport, import.span, {name});
}

std::vector<FileDiagnostic> Workspace::diagnostics(File &file) {
  // Recursion is looked for only when all is checked, because partial calls would miss cycles.
  if (file.calls.isDue() && !hasStale(file))
    file.calls.find(file.document.places(), !file.duplicates.all().empty(), file.recursion);
  Assembly assembly{*this, file, {}};
  // A chunk without a check shows its syntax errors at least.
  for (const Place &place : file.document.places()) {
    if (place.isQuiet)
      continue;
    if (place.check)
      for (const Diagnostic &diagnostic : place.check->diagnostics)
        assembly.addOfChunk(place, diagnostic);
    else
      for (const Diagnostic &diagnostic : place.chunk->syntax.all())
        assembly.addOfChunk(place, diagnostic);
  }
  assembly.addOfFile(file.importErrors);
  assembly.addOfFile(file.duplicates);
  assembly.addOfFile(file.recursion);
  file.unusedImports = {};
  // Code in error may lack the use of an import.
  if (!assembly.hasErrors)
    addUnusedImports(file, file.unusedImports);
  assembly.addOfFile(file.unusedImports);
  // Diagnostics of one place stay in the order in which they were added.
  std::stable_sort(assembly.all.begin(), assembly.all.end(),
                   [](const FileDiagnostic &a, const FileDiagnostic &b) {
                     return a.range.begin < b.range.begin;
                   });
  return std::move(assembly.all);
}

} // namespace ptl::ide
