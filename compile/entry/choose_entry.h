// Which declaration of a file a call means.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>
#include <string>

namespace ptl {

/// Whether a declaration is a `fn`, `kernel` or `program`, and so can be an entry.
bool isCallable(const CallableDecl &decl);

/// The names of declarations, as a message lists them; "nothing" if there are none.
std::string listedNames(const std::vector<const CallableDecl *> &decls);

struct EntryChoice {
  const CallableDecl *decl = nullptr;
  std::string problem; ///< why there is none
};

/// The callable declaration that `name` says, or, where that is empty, the only one that could be meant: the one
/// kernel or program that is exported, else the only one there is. `option` is how a caller says a name, for
/// messages. Declarations that `accepts` refuses do not count. Whether it can be called from outside is
/// `entryProblem`.
EntryChoice chooseEntry(const CheckedProgram &program, std::string_view name,
                        const std::string &option,
                        const std::function<bool(const CallableDecl &)> &accepts = isCallable);

} // namespace ptl
