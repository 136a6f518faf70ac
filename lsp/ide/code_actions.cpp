#include "lsp/ide/code_actions.h"

#include "lsp/ide/actions/organize_imports.h"
#include "lsp/ide/actions/refactoring.h"
#include "lsp/ide/module_exports.h"

#include "ir/ops/op_table.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptl::ide {

// ---- Kinds --------------------------------------------------------------------------------------

std::string_view actionKindId(ActionKind kind) {
  static constexpr std::string_view ids[] = {
#define ACTION_KIND(NAME, ID) ID,
#include "lsp/ide/actions/action_kinds.def"
#undef ACTION_KIND
  };
  return ids[static_cast<size_t>(kind)];
}

bool isWithin(ActionKind kind, std::string_view id) {
  std::string_view own = actionKindId(kind);
  // A kind contains those that continue it behind a dot.
  return id.empty() || own == id || (own.starts_with(id) && own[id.size()] == '.');
}

static bool isWanted(ActionKind kind, const std::vector<std::string> &only) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string &id) { return isWithin(kind, id); });
}

// ---- Context ------------------------------------------------------------------------------------

static Range inChunk(const Place &place, Range range) {
  uint32_t size = place.chunk->size();
  auto cut = [&](uint32_t offset) {
    return std::min(offset < place.begin ? 0 : offset - place.begin, size);
  };
  return {cut(range.begin), cut(range.end)};
}

ActionContext::ActionContext(Workspace &workspace, File &file, size_t placeIndex,
                             Range documentRange)
    : workspace(workspace), file(file), placeIndex(placeIndex),
      selected(inChunk(file.document.places()[placeIndex], documentRange)),
      chunk(file.document.places()[placeIndex].chunk), tree(*chunk->tree),
      check(workspace.check(file, placeIndex)) {
  // Blanks around a selection are not meant.
  range = selected.begin == selected.end ? selected : trimmed(text(), selected);
}

const Expr *ActionContext::exprOf(NodeId node) const {
  auto found = check.program->exprOfNode.find(node);
  return found == check.program->exprOfNode.end() ? nullptr : found->second;
}

Local *ActionContext::localOf(NodeId name) const {
  auto found = check.program->localOfNode.find(name);
  return found == check.program->localOfNode.end() ? nullptr : found->second;
}

std::string ActionContext::freshCallable(std::string name) const {
  // A keyword cannot be a name, so something is added.
  if (wordKind(name) != TokenKind::Identifier)
    name += "_value";
  auto isTaken = [&](const std::string &candidate) {
    for (DeclSpace space : {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Const})
      if (file.index.find(space, candidate))
        return true;
    return file.index.names.contains(candidate) || !findOps(candidate).empty() ||
           Bindings(tree, enclosingDecl(tree, tree.nodeAt(range.begin))).mentions(candidate);
  };
  std::string candidate = name;
  for (int i = 2; isTaken(candidate); ++i)
    candidate = name + std::to_string(i);
  return candidate;
}

// ---- Refactorings -------------------------------------------------------------------------------

namespace {

struct Refactoring {
  std::string_view id;
  ActionKind kind;
  bool isEarly;
  std::vector<Offer> (*offers)(const ActionContext &);
  Outcome (*edits)(const ActionContext &, int);
};

constexpr Refactoring kRefactorings[] = {
#define REFACTORING(ID, KIND, EARLY) {#ID, ActionKind::KIND, EARLY, ID##Offers, ID##Edits},
#include "lsp/ide/actions/refactorings.def"
#undef REFACTORING
};

/// The edits of a refactoring, tried out.
Outcome tried(const Refactoring &refactoring, const ActionContext &context, int variant) {
  Outcome outcome = refactoring.edits(context, variant);
  if (!outcome.refused.empty())
    return outcome;
  if (outcome.edits.empty())
    return refuse("there is nothing to change");
  // The edits are tried on a copy, and what adds an error is refused.
  std::vector<std::string> errors = context.tryEdits(outcome.edits).added;
  return errors.empty() ? outcome : refuse("the result would be wrong: " + errors.front());
}

std::vector<FileEdit> inDocument(const ActionContext &context, const Outcome &outcome) {
  std::vector<FileEdit> edits;
  uint32_t begin = context.file.document.places()[context.placeIndex].begin;
  for (const Edit &edit : outcome.edits)
    edits.push_back({&context.file, {edit.range.begin + begin, edit.range.end + begin}, edit.text});
  return edits;
}

void addRefactorings(const ActionContext &context, Range range,
                     const std::vector<std::string> &only, std::vector<CodeAction> &actions) {
  uint32_t begin = context.file.document.places()[context.placeIndex].begin;
  for (const Refactoring &refactoring : kRefactorings) {
    if (!isWanted(refactoring.kind, only))
      continue;
    for (const Offer &offer : refactoring.offers(context)) {
      CodeAction action;
      action.kind = refactoring.kind;
      action.title = offer.title;
      action.key = {std::string(refactoring.id), range, offer.variant, ""};
      if (offer.diagnostic)
        action.diagnostic = {
            offer.diagnostic,
            {offer.diagnostic->span.begin + begin, offer.diagnostic->span.end + begin}};
      // A cheap refactoring is tried at once, so that one that would fail is not offered; others
      // wait until they are chosen.
      if (refactoring.isEarly) {
        Outcome outcome = tried(refactoring, context, offer.variant);
        action.disabled = outcome.refused;
        action.edits = inDocument(context, outcome);
        action.isResolved = outcome.refused.empty();
      }
      actions.push_back(std::move(action));
    }
  }
}

// ---- Fixes --------------------------------------------------------------------------------------

/// The edits of a fix where they lie now; nothing if a place is gone or an import's file not open.
std::vector<FileEdit> located(const Workspace &workspace, const File &file, const Fix &fix) {
  std::vector<FileEdit> edits;
  // A fix that imports needs the import lines as they are by then.
  if (fix.import) {
    for (const Edit &edit : importEdits(file, {{fix.import->module, {fix.import->name}}}))
      edits.push_back({&file, edit.range, edit.text});
    return edits;
  }
  for (const TextEdit &edit : fix.edits) {
    Location at = workspace.locate(edit.span);
    // A fix is applied as a whole or not at all.
    if (!at)
      return {};
    edits.push_back({at.file, at.range, edit.text});
  }
  return edits;
}

bool touches(Range a, Range b) { return a.begin <= b.end && b.begin <= a.end; }

/// The diagnostics within a range, from the checks of its chunks and of the file.
std::vector<FileDiagnostic> diagnosticsIn(Workspace &workspace, File &file, Range range) {
  std::vector<FileDiagnostic> found;
  size_t last = file.document.placeAt(range.end);
  for (size_t i = file.document.placeAt(range.begin); i <= last; ++i) {
    uint32_t begin = file.document.places()[i].begin;
    for (const Diagnostic &diagnostic : workspace.check(file, i).diagnostics) {
      Range own{diagnostic.span.begin + begin, diagnostic.span.end + begin};
      if (touches(own, range))
        found.push_back({&diagnostic, own});
    }
  }
  // What concerns several chunks is found for the file.
  for (const DiagnosticSink *sink :
       {&file.importErrors, &file.duplicates, &file.recursion, &file.unusedImports})
    for (const Diagnostic &diagnostic : sink->all())
      if (Location at = workspace.locate(diagnostic.span); at && touches(at.range, range))
        found.push_back({&diagnostic, at.range});
  return found;
}

std::string capitalised(std::string text) {
  // Fixes that are alternatives begin with "or".
  if (text.starts_with("or "))
    text.erase(0, 3);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// `did you mean …` says what to write: that is what the action does. One that may change the
/// meaning says so.
std::string titleOf(const Fix &fix) {
  constexpr std::string_view question = "did you mean ", condition = " if that is meant";
  std::string title = fix.title;
  if (title.starts_with(question) && title.ends_with("?"))
    title = "Change to " + title.substr(question.size(), title.size() - question.size() - 1);
  title = capitalised(std::move(title));
  // A fix that may be wrong says so in its title.
  if (!fix.isCertain() && !title.ends_with(condition))
    title += condition;
  return title;
}

/// Only chunks with imports matter, which are few.
std::vector<FileEdit> importEdits(const Workspace &workspace, const File &file) {
  std::vector<FileEdit> edits;
  for (const Edit &edit : organizeImports(workspace, file))
    edits.push_back({&file, edit.range, edit.text});
  return edits;
}

void addImportFix(const Workspace &workspace, const File &file, const FileDiagnostic &diagnostic,
                  Range range, std::vector<CodeAction> &actions) {
  CodeAction action;
  action.title = "Remove unused imports";
  action.isPreferred = true;
  action.diagnostic = diagnostic;
  action.key = {"organizeImports", range, 0, ""};
  action.edits = importEdits(workspace, file);
  action.isResolved = true;
  if (!action.edits.empty())
    actions.push_back(std::move(action));
}

void addFixes(Workspace &workspace, File &file, Range range, std::vector<CodeAction> &actions) {
  // One action for each code fixes all diagnostics of that kind.
  std::set<std::string> codes;
  for (const FileDiagnostic &each : diagnosticsIn(workspace, file, range)) {
    const Diagnostic &diagnostic = *each.diagnostic;
    for (const Fix &fix : diagnostic.fixes) {
      CodeAction action;
      action.title = titleOf(fix);
      // The fix that certainly is right is what editors apply at a key.
      action.isPreferred = &fix == diagnostic.certainFix();
      action.diagnostic = each;
      action.fix = fix.id;
      action.edits = located(workspace, file, fix);
      action.isResolved = true;
      action.key = {"fix", range, 0, diagInfo(diagnostic.id).code};
      if (!action.edits.empty())
        actions.push_back(std::move(action));
    }
    if (diagnostic.id == DiagId::UnusedImport)
      addImportFix(workspace, file, each, range, actions);
    if (diagnostic.certainFix())
      codes.insert(diagInfo(diagnostic.id).code);
  }
  for (const std::string &code : codes) {
    CodeAction action;
    action.title = "Fix all " + code + " in this file";
    action.key = {"fixCode", range, 0, code};
    actions.push_back(std::move(action));
  }
}

bool overlaps(const FileEdit &a, const FileEdit &b) {
  // Insertions overlap only if they insert the same text at the same place.
  if (a.range.begin == a.range.end && b.range.begin == b.range.end)
    return a.range == b.range && a.text == b.text;
  return a.range == b.range || (a.range.begin < b.range.end && b.range.begin < a.range.end);
}

/// The certain fixes of all diagnostics of a file that have exactly one, of one code if `code` is
/// not empty. A fix is made as a whole or not at all; of two that overlap the first is made.
std::vector<FileEdit> allFixes(Workspace &workspace, File &file, const std::string &code) {
  // Everything must have been checked, since fixes of all of the file are wanted.
  while (workspace.checkNext(file)) {
  }
  std::vector<FileEdit> all;
  ImportNeeds imports;
  // Where text is not understood yet, what it declares may only seem to be missing.
  std::vector<FileDiagnostic> found = workspace.diagnostics(file);
  bool isBroken = std::any_of(found.begin(), found.end(), [](const FileDiagnostic &each) {
    return isSyntaxError(each.diagnostic->id);
  });
  for (const FileDiagnostic &each : found) {
    const Diagnostic &diagnostic = *each.diagnostic;
    const Fix *fix = diagnostic.certainFix();
    if (!fix || (!code.empty() && code != diagInfo(diagnostic.id).code) ||
        (isBroken && !isSyntaxError(diagnostic.id)))
      continue;
    // Imports are collected, because several names may come from one module.
    if (fix->import) {
      imports[fix->import->module].insert(fix->import->name);
      continue;
    }
    std::vector<FileEdit> edits = located(workspace, file, *fix);
    bool fits = std::all_of(edits.begin(), edits.end(), [&](const FileEdit &edit) {
      return edit.file == &file && std::none_of(all.begin(), all.end(), [&](const FileEdit &other) {
               return overlaps(edit, other);
             });
    });
    if (fits)
      all.insert(all.end(), edits.begin(), edits.end());
  }
  for (const Edit &edit : importEdits(file, imports))
    all.push_back({&file, edit.range, edit.text});
  return all;
}

void addSourceActions(Workspace &workspace, File &file, Range range,
                      const std::vector<std::string> &only, std::vector<CodeAction> &actions) {
  if (isWanted(ActionKind::OrganizeImports, only)) {
    CodeAction action;
    action.kind = ActionKind::OrganizeImports;
    action.title = "Organize imports";
    action.key = {"organizeImports", range, 0, ""};
    action.edits = importEdits(workspace, file);
    action.isResolved = true;
    if (!action.edits.empty())
      actions.push_back(std::move(action));
  }
  // Everything in a file is fixed only where that is what was asked for.
  if (!only.empty() && isWanted(ActionKind::FixAll, only)) {
    CodeAction action;
    action.kind = ActionKind::FixAll;
    action.title = "Fix all in this file";
    action.key = {"fixAll", range, 0, ""};
    actions.push_back(std::move(action));
  }
}

} // namespace

std::vector<CodeAction> codeActions(Workspace &workspace, File &file, Range range,
                                    const std::vector<std::string> &only) {
  std::vector<CodeAction> actions;
  // The range may be from before an edit.
  range.end = std::min(range.end, file.document.size());
  range.begin = std::min(range.begin, range.end);
  if (isWanted(ActionKind::QuickFix, only))
    addFixes(workspace, file, range, actions);
  // Refactorings concern one chunk, that in which the selection begins.
  ActionContext context(workspace, file, file.document.placeAt(range.begin), range);
  addRefactorings(context, range, only, actions);
  addSourceActions(workspace, file, range, only, actions);
  return actions;
}

ResolvedAction resolveAction(Workspace &workspace, File &file, const ActionKey &key) {
  if (key.id == "fixAll")
    return {allFixes(workspace, file, ""), ""};
  if (key.id == "fixCode")
    return {allFixes(workspace, file, key.code), ""};
  if (key.id == "organizeImports")
    return {importEdits(workspace, file), ""};
  for (const Refactoring &refactoring : kRefactorings) {
    if (refactoring.id != key.id)
      continue;
    size_t place = file.document.placeAt(std::min(key.range.begin, file.document.size()));
    ActionContext context(workspace, file, place, key.range);
    Outcome outcome = tried(refactoring, context, key.variant);
    return {inDocument(context, outcome), outcome.refused};
  }
  return {{}, "this action is no longer available here"};
}

} // namespace ptl::ide
