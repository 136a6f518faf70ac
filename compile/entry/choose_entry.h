// Finds the declaration of a file that a caller refers to.
#pragma once

#include "frontend/sema/checked_tree.h"

#include <functional>
#include <string>

namespace ptl {

/// Whether a declaration is a `fn`, `kernel` or `program`, and so can be an entry.
bool isCallable(const CallableDecl &decl);

/// The names of declarations as a list for a message; "nothing" if there are none.
std::string listedNames(const std::vector<const CallableDecl *> &decls);

struct EntryChoice {
  const CallableDecl *decl = nullptr;
  std::string problem; ///< why there is none
};

/// The callable declaration named `name`. If the name is empty, the only candidate: the one
/// exported kernel or program, otherwise the only callable there is. `option` is how a caller gives
/// a name, for messages. Only declarations that `accepts` admits are candidates. `entryProblem`
/// says whether it can be called from outside.
EntryChoice chooseEntry(const CheckedProgram &program, std::string_view name,
                        const std::string &option,
                        const std::function<bool(const CallableDecl &)> &accepts = isCallable);

} // namespace ptl
