// Finds the declarations that an entry calls, directly or not.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Every expression of a declaration: body, defaults, `where` and loops, outer before inner.
void forEachExprOf(const CallableDecl &decl, const std::function<void(const Expr &)> &visit);

/// The entry and all that it calls, each once, the entry first, in the order met.
std::vector<const CallableDecl *> reachableFrom(const CallableDecl &entry);

/// A text that is equal exactly when everything that the entry is compiled from is equal; the
/// columns at which declarations begin do not count.
std::string sourceKey(const CheckedProgram &program, const SourceManager &sources,
                      const std::vector<const CallableDecl *> &reach);

/// The declaration of that name. If several have it, or the name is empty, it is the one that holds
/// `offset` of the root file. Null if there is none.
const CallableDecl *findDeclaration(const CheckedProgram &program, const std::string &name,
                                    std::optional<uint32_t> offset);

} // namespace ptl
