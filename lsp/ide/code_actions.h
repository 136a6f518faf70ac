// Code actions: the fixes of diagnostics, and refactorings. Listing them looks only at the chunks
// under the range; the edits of an action are computed when it is resolved.
#pragma once

#include "lsp/ide/actions/trial.h"
#include "lsp/ide/workspace.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::ide {

/// One entry per row of `action_kinds.def`.
enum class ActionKind : uint8_t {
#define ACTION_KIND(NAME, ID) NAME,
#include "lsp/ide/actions/action_kinds.def"
#undef ACTION_KIND
};

/// `refactor.extract`
std::string_view actionKindId(ActionKind kind);
/// The kinds at or below one of their hierarchy: `refactor` holds `refactor.extract`.
bool isWithin(ActionKind kind, std::string_view id);

/// An edit of a file.
struct FileEdit {
  const File *file = nullptr;
  Range range;
  std::string text;
};

/// Identifies an action among those of its file, until the file changes.
struct ActionKey {
  std::string id;   ///< `fix`, `fixCode`, `fixAll`, or the id of a refactoring
  Range range;      ///< for which actions were requested
  int variant = 0;  ///< distinguishes several actions with this id
  std::string code; ///< of the diagnostic: `E0312`
};

struct CodeAction {
  ActionKind kind = ActionKind::QuickFix;
  std::string title;
  bool isPreferred = false;
  std::string disabled; ///< why it is not possible here; empty: it is possible
  /// the diagnostic that it fixes; valid until the file changes
  std::optional<FileDiagnostic> diagnostic;
  std::optional<FixId> fix; ///< the kind of fix that it is
  ActionKey key;
  bool isResolved = false; ///< `edits` are known
  std::vector<FileEdit> edits;
};

/// The actions for a range of a file. `only`: ids of kinds, empty for all.
std::vector<CodeAction> codeActions(Workspace &workspace, File &file, Range range,
                                    const std::vector<std::string> &only = {});

struct ResolvedAction {
  std::vector<FileEdit> edits;
  std::string refused; ///< why there are no edits
};
ResolvedAction resolveAction(Workspace &workspace, File &file, const ActionKey &key);

} // namespace ptl::ide
