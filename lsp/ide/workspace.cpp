#include "lsp/ide/workspace.h"

#include "frontend/base/changed_part.h"
#include "frontend/parse/parse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace ptl::ide {

namespace fs = std::filesystem;

Workspace::Workspace(CheckOptions options) : options_(std::move(options)) {
  fileOfId_.push_back(nullptr); // the first id is 1
}

static std::string normalPath(const std::string &path) {
  return fs::path(path).lexically_normal().string();
}

static void markAllStale(File &file) {
  for (size_t i = 0; i < file.document.places().size(); ++i)
    file.document.markStale(i);
  file.firstStale = 0;
}

void Workspace::setOptions(CheckOptions options) {
  options_ = std::move(options);
  // Options say where modules are looked for, so every import may lead elsewhere.
  for (auto &[path, file] : files_)
    resolveImports(*file);
}

// ---- Files --------------------------------------------------------------------------------------

File &Workspace::add(const std::string &path) {
  auto &slot = files_[path];
  // The document asks for ids while the file is being made. The owner is filled in later, and the
  // ids that were given before are corrected in the loop below.
  auto owner = std::make_shared<File *>(nullptr);
  slot = std::make_unique<File>(path, [this, owner] {
    fileOfId_.push_back(*owner);
    return static_cast<FileId>(fileOfId_.size() - 1);
  });
  *owner = slot.get();
  for (const Place &place : slot->document.places())
    fileOfId_[place.chunk->id()] = slot.get();
  slot->index.name = fs::path(path).stem().string();
  slot->index.file = slot->document.places().front().chunk->id();
  return *slot;
}

std::optional<std::string> readFile(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return std::nullopt;
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

File *Workspace::find(const std::string &path) {
  auto found = files_.find(path);
  if (found == files_.end())
    found = files_.find(normalPath(path));
  return found == files_.end() ? nullptr : found->second.get();
}

File *Workspace::load(const std::string &path) {
  if (File *file = find(path))
    // A file that was deleted stays known, because others may still refer to its chunks.
    return file->isMissing ? nullptr : file;
  auto text = readFile(path);
  if (!text)
    return nullptr;
  File &file = add(normalPath(path));
  setText(file, *text);
  return &file;
}

File *Workspace::fileOf(const ModuleIndex *index) const {
  for (const auto &[path, file] : files_)
    if (&file->index == index)
      return file.get();
  return nullptr;
}

std::vector<File *> Workspace::openFiles() {
  std::vector<File *> open;
  for (auto &[path, file] : files_)
    if (file->isOpen)
      open.push_back(file.get());
  return open;
}

/// Replaces what lies between the common beginning and end of two texts.
void Workspace::setText(File &file, std::string_view text) {
  std::string old = file.document.text();
  ChangedPart part = changedPart(old, text);
  // Equal texts are no change, but a file begins with one.
  if (part.isEmpty() && !old.empty())
    return;
  Range range{static_cast<uint32_t>(part.begin), static_cast<uint32_t>(part.oldEnd)};
  edit(file, range, text.substr(part.begin, part.newEnd - part.begin));
}

File &Workspace::open(const std::string &path, std::string text, int64_t version) {
  File *file = find(path);
  bool isNew = !file;
  if (!file)
    file = &add(normalPath(path));
  isNew |= std::exchange(file->isMissing, false);
  file->isOpen = true;
  file->version = version;
  setText(*file, text);
  if (isNew)
    fileChanged(path); // imports of it may have failed
  return *file;
}

void Workspace::edit(File &file, Range range, std::string_view text) {
  changed(file, file.document.replace(range, text));
}

void Workspace::close(const std::string &path) {
  File *file = find(path);
  if (!file)
    return;
  file->isOpen = false;
  takeFromDisk(*file, readFile(file->path()));
}

/// Takes the text from disk. Files that import one that is gone are checked again.
void Workspace::takeFromDisk(File &file, const std::optional<std::string> &text) {
  bool wasMissing = std::exchange(file.isMissing, !text);
  if (text)
    setText(file, *text);
  // Importers are concerned only if the file has just gone.
  if (wasMissing || !file.isMissing)
    return;
  for (auto &[path, other] : files_)
    if (std::find(other->imports.begin(), other->imports.end(), &file) != other->imports.end())
      resolveImports(*other);
}

void Workspace::adopt(const std::string &path, const std::string &text) {
  File *file = find(path);
  if (!file)
    setText(add(normalPath(path)), text);
  // The text of the client is newer than what is on disk.
  else if (file->isMissing && !file->isOpen)
    takeFromDisk(*file, text);
}

void Workspace::fileChanged(const std::string &path) {
  File *file = find(path);
  bool isRead = file && !file->isOpen;
  fileChanged(path, isRead ? readFile(path) : std::nullopt);
}

void Workspace::fileChanged(const std::string &path, const std::optional<std::string> &text) {
  File *file = find(path);
  if (file && !file->isOpen)
    takeFromDisk(*file, text);
  // A file that has appeared may be what a failed import was looking for.
  for (auto &[other, importer] : files_)
    if (importer->importErrors.hasErrors())
      resolveImports(*importer);
}

// ---- Edits --------------------------------------------------------------------------------------

static std::vector<const ChunkDecl *> declsOf(std::span<const Place> places) {
  std::vector<const ChunkDecl *> decls;
  for (const Place &place : places)
    for (const ChunkDecl &decl : place.chunk->decls)
      decls.push_back(&decl);
  return decls;
}

/// Of declarations with one name only the first is checked. Which one that is, no signature shows.
static void markDuplicatesStale(File &file) {
  auto mark = [&](Span span) {
    if (std::optional<size_t> place = file.document.indexOf(span.file)) {
      file.document.markStale(*place);
      file.firstStale = std::min(file.firstStale, *place);
    }
  };
  for (const Diagnostic &diagnostic : file.duplicates.all()) {
    mark(diagnostic.span);
    for (const Label &label : diagnostic.labels)
      mark(label.span);
  }
}

static void rebuildIndex(File &file) {
  markDuplicatesStale(file);
  file.namesChanged = true;
  file.calls.forget();
  for (auto &space : file.index.spaces)
    space.clear();
  std::vector<NamedDecl> named;
  for (const ChunkDecl *decl : declsOf(file.document.places())) {
    named.push_back(decl->decl);
    if (!decl->decl.name.empty())
      // The first declaration of a name counts; later ones are reported as duplicates.
      file.index.of(decl->decl.space).try_emplace(std::string(decl->decl.name), decl->site);
  }
  file.duplicates = {};
  reportDuplicates(named, file.duplicates);
  markDuplicatesStale(file);
}

/// Puts the sites of the new chunks in place of those of the old ones. False when the names are not
/// the same, or one of them is declared twice.
static bool replaceSites(File &file, const std::vector<const ChunkDecl *> &before,
                         const std::vector<const ChunkDecl *> &after, bool &signaturesChanged) {
  // With the same names in the same order the index keeps its shape, and only sites change. That is
  // the usual edit: one inside of a body.
  bool same = std::equal(before.begin(), before.end(), after.begin(), after.end(),
                         [](const ChunkDecl *a, const ChunkDecl *b) {
                           return a->decl.space == b->decl.space && a->decl.name == b->decl.name;
                         });
  // After duplicates a name may stand for another declaration, so the index is built anew.
  if (!same || !file.duplicates.all().empty())
    return false;
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i]->decl.name.empty())
      continue;
    DeclSite &site = file.index.of(after[i]->decl.space).find(after[i]->decl.name)->second;
    // Other files only see signatures, so a changed body alone does not concern them.
    signaturesChanged |= site.signature != after[i]->site.signature ||
                         site.hasSyntaxErrors != after[i]->site.hasSyntaxErrors;
    site = after[i]->site;
  }
  return true;
}

/// Takes the names of the old chunks out of the index, and those of the new ones in. False when one
/// of them is declared twice.
static bool exchangeSites(File &file, const std::vector<const ChunkDecl *> &before,
                          const std::vector<const ChunkDecl *> &after) {
  if (!file.duplicates.all().empty())
    return false;
  file.namesChanged = true;
  for (const ChunkDecl *each : before) {
    if (each->decl.name.empty())
      continue;
    auto &space = file.index.of(each->decl.space);
    auto found = space.find(each->decl.name);
    if (found == space.end())
      return false;
    space.erase(found);
  }
  for (const ChunkDecl *each : after) {
    std::string name(each->decl.name);
    if (name.empty())
      continue;
    size_t count = 0; // in all spaces: structs clash with callables
    for (const auto &space : file.index.spaces)
      count += space.contains(name);
    if (count > 0 || !file.index.of(each->decl.space).try_emplace(name, each->site).second)
      return false;
  }
  return true;
}

void Workspace::changed(File &file, const DocumentChange &change) {
  auto added = file.document.places().subspan(change.first, change.added);
  std::vector<const ChunkDecl *> before = declsOf(change.removed), after = declsOf(added);
  // Both the new and the removed chunks matter: an import may have gone.
  bool imports = std::any_of(added.begin(), added.end(),
                             [](const Place &place) { return place.chunk->hasImports; });
  for (const Place &place : change.removed)
    imports |= place.chunk->hasImports;
  bool signatures = false;
  bool isSimple = replaceSites(file, before, after, signatures);
  if (!isSimple && !exchangeSites(file, before, after))
    rebuildIndex(file);
  file.firstStale = std::min(file.firstStale, change.first);
  // A cycle may have lost one of its declarations.
  if (!isSimple && !file.recursion.all().empty())
    file.calls.forget();
  // A chunk with the same content may have been moved instead of removed.
  for (const Place &place : change.removed)
    if (!file.document.placeOf(place.chunk->id()))
      file.calls.removed(place.chunk->id());
  if (imports)
    resolveImports(file);
  Touched touched{{}, !isSimple, !isSimple || signatures};
  for (const auto *decls : {&before, &after})
    for (const ChunkDecl *each : *decls)
      touched.names.insert(each->decl.name);
  invalidate(file, touched);
}

/// Marks a check stale unless it still says what a new one would. Only what was touched can have
/// changed under it.
static void review(File &file, size_t place, const ModuleIndex &index,
                   const Workspace::Touched &touched) {
  const ChunkCheck &check = *file.document.places()[place].check;
  // A message that lists names, such as for a misspelling, depends on all of them.
  bool isStale = touched.areOthers && check.readsAllNames, isDoubtful = false;
  for (const Dependency &each : check.dependencies)
    if (each.module == &index && (each.part != Dependency::Part::Signature || touched.signatures) &&
        touched.names.contains(each.name) && !each.holds())
      // What a file that imports this one has found out about bodies, nobody tells it.
      (&index == &file.index && each.isDoubtful() ? isDoubtful : isStale) = true;
  if (!isStale && !isDoubtful)
    return;
  isStale ? file.document.markStale(place) : file.document.markDoubtful(place);
  file.firstStale = std::min(file.firstStale, place);
}

/// Marks the checks of `file` stale that depend on something in `index` that is not as it was.
void Workspace::invalidate(File &file, const ModuleIndex &index, const Touched &touched) {
  /// Whether the chunk still has a check for which `isMeant`.
  auto look = [&](FileId chunk, auto isMeant) {
    std::optional<size_t> i = file.document.indexOf(chunk);
    const ChunkCheck *check = i ? file.document.places()[*i].check.get() : nullptr;
    if (!check || !isMeant(*check))
      return false;
    review(file, *i, index, touched);
    return true;
  };
  for (std::string_view name : touched.names) {
    auto looksFor = [&](const ChunkCheck &check) {
      return std::any_of(check.dependencies.begin(), check.dependencies.end(),
                         [&](const Dependency &each) { return each.name == name; });
    };
    file.dependents.visit(name, [&](FileId chunk) { return look(chunk, looksFor); });
  }
  if (touched.areOthers)
    file.dependents.visitReaders([&](FileId chunk) {
      return look(chunk, [](const ChunkCheck &check) { return check.readsAllNames; });
    });
}

/// Marks every check stale that depends on something in `file` that is not as it was. Schedules
/// depend on bodies, too, since they speak of labels.
void Workspace::invalidate(File &file, const Touched &touched) {
  for (auto &[path, other] : files_) {
    bool imports =
        std::find(other->imports.begin(), other->imports.end(), &file) != other->imports.end();
    // The index of an importer holds sites of this file, which may have changed.
    if (imports && touched.signatures)
      resolveImports(*other);
    if (imports || other.get() == &file)
      invalidate(*other, file.index, touched);
  }
}

// ---- Imports ------------------------------------------------------------------------------------

/// The names of the modules from `from` to `to` along imports; empty if there is no way.
static std::vector<std::string> importPath(const File &from, const File &to,
                                           std::vector<const File *> &seen) {
  if (&from == &to)
    return {from.index.name};
  if (std::find(seen.begin(), seen.end(), &from) != seen.end())
    return {};
  seen.push_back(&from);
  for (const File *next : from.imports)
    // A file that is seen twice has no way to `to`, or the first visit had found it.
    if (auto path = importPath(*next, to, seen); !path.empty()) {
      path.insert(path.begin(), from.index.name);
      return path;
    }
  return {};
}

void Workspace::resolveImport(File &file, const Tree &tree, NodeId node) {
  ImportRequest request = importRequest(tree, node, file.path(), options_);
  if (request.places.empty())
    return;
  // The places are in order of preference; the first file that exists is the module.
  File *imported = nullptr;
  for (const fs::path &place : request.places)
    if ((imported = load(place.string())))
      break;
  if (!imported) {
    failNames(tree, node, request, file.index.failed);
    return reportModuleNotFound(request, "", file.importErrors);
  }
  std::vector<const File *> seen;
  auto cycle = importPath(*imported, file, seen);
  if (!cycle.empty()) {
    // The import that closes a cycle is refused, so the graph of imports has none.
    failNames(tree, node, request, file.index.failed);
    return reportImportCycle(request, cycle, file.importErrors);
  }
  if (std::find(file.imports.begin(), file.imports.end(), imported) == file.imports.end())
    file.imports.push_back(imported);
  bindImport(tree, node, request, file.index, imported->index, file.importErrors);
}

void Workspace::resolveImports(File &file) {
  file.namesChanged = true;
  // All results of imports are found again; a changed import may bind other names.
  file.importErrors = {};
  file.imports.clear();
  file.index.modules.clear();
  file.index.names.clear();
  file.index.failed.clear();
  for (const Place &place : file.document.places()) {
    const Tree &tree = *place.chunk->tree;
    if (place.chunk->hasImports)
      for (NodeId item : tree.children(tree.root()))
        if (tree.is(item, NodeKind::ImportDecl))
          resolveImport(file, tree, item);
  }
  // Any chunk may use any import.
  markAllStale(file);
}

// ---- Checks -------------------------------------------------------------------------------------

/// Whether the check of a doubtful place says what a new one would. Messages point into what they
/// speak of, which may have moved.
static bool stillHolds(const File &file, const Place &place) {
  return place.isDoubtful && place.check->diagnostics.empty() && place.check->holds() &&
         file.duplicates.all().empty();
}

/// Tells the index what a check has found out about the bodies of a chunk, and marks the schedules
/// stale to which that is new.
static void noteLabels(File &file, const Chunk &chunk, const ChunkCheck &check) {
  for (const auto &[name, hash] : check.labels) {
    auto &callables = file.index.of(DeclSpace::Callable);
    auto found = callables.find(name);
    if (found == callables.end() || found->second.tree != chunk.tree.get() ||
        std::exchange(found->second.labels, hash) == hash)
      continue;
    file.dependents.visit(name, [&, &name = name](FileId user) {
      std::optional<size_t> i = file.document.indexOf(user);
      const ChunkCheck *known = i ? file.document.places()[*i].check.get() : nullptr;
      if (!known)
        return false;
      for (const Dependency &each : known->dependencies)
        if (each.part == Dependency::Part::Labels && each.module == &file.index &&
            each.name == name && !each.holds()) {
          file.document.markStale(*i);
          file.firstStale = std::min(file.firstStale, *i);
        }
      return true;
    });
  }
}

/// Half-written names are looked for once, and never again.
static void tidyDependents(File &file) {
  auto places = file.document.places();
  constexpr size_t few = 4096, mostOfOne = 64;
  if (file.dependents.size() <= few + mostOfOne * places.size())
    return;
  file.dependents.clear();
  for (const Place &place : places)
    if (place.check)
      file.dependents.add(place.id, *place.check);
}

const ChunkCheck &Workspace::check(File &file, size_t index) {
  const Place &place = file.document.places()[index];
  if (!place.isStale)
    return *place.check;
  if (stillHolds(file, place)) {
    file.document.confirm(index);
    return *place.check;
  }
  const Chunk &chunk = *place.chunk;
  auto check = checkChunk(chunk.tree, chunk.file, chunk.syntax, file.index, options_);
  noteLabels(file, chunk, *check);
  file.calls.checked(chunk.id(), *check);
  // What was reported of recursion before holds spans, which may have moved.
  if (!file.recursion.all().empty())
    file.calls.forget();
  file.dependents.add(chunk.id(), *check);
  file.document.setCheck(index, std::move(check));
  tidyDependents(file);
  return *file.document.places()[index].check;
}

bool Workspace::hasStale(const File &file) const {
  auto places = file.document.places();
  return std::any_of(places.begin() +
                         static_cast<ptrdiff_t>(std::min(file.firstStale, places.size())),
                     places.end(), [](const Place &place) { return place.isStale; });
}

bool Workspace::checkNext(File &file) {
  auto places = file.document.places();
  // Everything before is checked, so the next call starts behind it.
  while (file.firstStale < places.size() && !places[file.firstStale].isStale)
    ++file.firstStale;
  if (file.firstStale >= places.size())
    return false;
  check(file, file.firstStale);
  return true;
}

Location Workspace::locate(Span span) const {
  if (span.file >= fileOfId_.size() || !fileOfId_[span.file])
    return {};
  const File *file = fileOfId_[span.file];
  const Place *place = file->document.placeOf(span.file);
  // The chunk of the span was replaced in the meantime.
  if (!place)
    return {};
  // Spans count from the beginning of their chunk, because chunks move as a whole.
  return {file, {place->begin + span.begin, place->begin + span.end}};
}

} // namespace ptl::ide
