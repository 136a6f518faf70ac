// What an entry is made of: the declarations that it calls, directly or not.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/checked_tree.h"

#include <functional>

namespace ptl {

/// Every expression of a declaration: body, defaults, `where` and loops, outer before inner.
void forEachExprOf(const CallableDecl &decl, const std::function<void(const Expr &)> &visit);

/// The entry and all that it calls, each once, the entry first, in the order met.
std::vector<const CallableDecl *> reachableFrom(const CallableDecl &entry);

/// A text that is the same exactly when everything that the entry is compiled from is the same,
/// up to where the declarations begin on their line.
std::string sourceKey(const CheckedProgram &program, const SourceManager &sources,
                      const std::vector<const CallableDecl *> &reach);

/// The declaration of that name; where several have it, the one that holds `offset` of the root
/// file. With an empty name the one that holds `offset`. Null if there is none.
const CallableDecl *findDeclaration(const CheckedProgram &program, const std::string &name,
                                    std::optional<uint32_t> offset);

} // namespace ptl
