// The input and the output of refactorings. All ranges are relative to the chunk.
#pragma once

#include "lsp/ide/actions/bindings.h"
#include "lsp/ide/actions/trial.h"
#include "lsp/ide/code_actions.h"

namespace ptl::ide {

struct ActionContext {
  Workspace &workspace;
  File &file;
  size_t placeIndex;
  Range range;    ///< without the white space around it
  Range selected; ///< as selected
  std::shared_ptr<const Chunk> chunk;
  const Tree &tree;
  const ChunkCheck &check;

  ActionContext(Workspace &workspace, File &file, size_t placeIndex, Range documentRange);
  std::string_view text() const { return chunk->file.text(); }
  std::string text(NodeId node) const { return std::string(tree.text(node)); }
  const Expr *exprOf(NodeId node) const;
  Local *localOf(NodeId name) const;
  const DimContext &dims() const { return *check.program->dims; }
  /// A name that is neither that of a callable nor of a built-in.
  std::string freshCallable(std::string name) const;
  Trial tryEdits(const std::vector<Edit> &edits) const {
    return ide::tryEdits(workspace, file, placeIndex, edits);
  }
};

/// An action that is offered if it is possible.
struct Offer {
  std::string title;
  int variant = 0;
  const Diagnostic *diagnostic = nullptr; ///< the diagnostic that it fixes
};

/// Edits that do not overlap, or the reason why there are none.
struct Outcome {
  std::vector<Edit> edits;
  std::string refused;
};
inline Outcome refuse(std::string reason) { return {{}, std::move(reason)}; }

#define REFACTORING(ID, KIND, EARLY)                                                               \
  std::vector<Offer> ID##Offers(const ActionContext &context);                                     \
  Outcome ID##Edits(const ActionContext &context, int variant);
#include "lsp/ide/actions/refactorings.def"
#undef REFACTORING

} // namespace ptl::ide
