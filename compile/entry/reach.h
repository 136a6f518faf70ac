// Finds the declarations that an entry calls, directly or indirectly.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Every expression of a declaration: body, defaults, `where` and loops, outer before inner.
void forEachExprOf(const CallableDecl &decl, const std::function<void(const Expr &)> &visit);

/// The entry and all its callees, each once, in the order of discovery; the entry is first.
std::vector<const CallableDecl *> reachableFrom(const CallableDecl &entry);

/// A key of the entry's sources: equal exactly if everything that the entry is compiled from is
/// equal. The columns at which declarations begin do not matter.
std::string sourceKey(const CheckedProgram &program, const SourceManager &sources,
                      const std::vector<const CallableDecl *> &reach);

/// The declaration of that name. If several have it, or the name is empty, the one that contains
/// `offset` of the root file. Null if there is none.
const CallableDecl *findDeclaration(const CheckedProgram &program, const std::string &name,
                                    std::optional<uint32_t> offset);

} // namespace ptl
