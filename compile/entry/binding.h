// Makes a generic declaration concrete for a preview: chooses element types, the rank of `..`, and
// values of `static` dimensions and tunables. Missing values get defaults, which are reported.
#pragma once

#include "frontend/sema/checked_tree.h"
#include "ir/build/build_ir.h"

#include <map>
#include <string>
#include <vector>

namespace ptl {

/// Values by name: `T` → `f16`, `C` → `512`, `..` → `2`, `ROWS` → `16`; `f.C` applies to the
/// declaration `f` only.
using Wanted = std::map<std::string, std::string>;

/// The part of a request that concerns one declaration: `f.C` is the `C` of `f`, and takes
/// precedence over plain `C`.
Wanted wantedBy(const CallableDecl &decl, const Wanted &wanted);

struct Choice {
  const char *kind; ///< `type`, `static`, `dimension`, `leading`, `tunable`
  std::string name, value;
  std::string why; ///< `asked for`, `bench "…"`, `default` …
};

/// One function of a preview's module.
struct BoundEntry {
  std::string name; ///< of the declaration
  ir::EntryBinding binding;
  std::vector<Choice> choices;
};

/// A call in the root file.
struct CallSite {
  const CallableDecl *caller = nullptr;
  const CallExpr *expr = nullptr;
};
/// The calls of a declaration. Those of benches come first, because their sizes are the relevant
/// ones, then those of tests.
std::vector<CallSite> callsOf(const CheckedProgram &program, const CallableDecl &callee);
/// A caller as messages name it, when they say where a value comes from: `bench "…"`, ``the call in
/// `f` ``.
std::string describeCaller(const CallableDecl &caller);

/// Why a parameter cannot have the element type of this name; empty if it can.
std::string elementProblem(const TypeParam &param, const std::string &name);
/// The element type that is used if none is given: the first of the common ones that the parameter
/// accepts.
ElemKind usualElement(const TypeParam &param);

/// The entries that a preview of `decl` compiles: the declaration itself, or the callees of a test,
/// property or bench. If the values do not fit, `problem` says why and the result is empty.
std::vector<BoundEntry> bindEntries(const CheckedProgram &program, const CallableDecl &decl,
                                    const Wanted &wanted, std::string &problem);

} // namespace ptl
