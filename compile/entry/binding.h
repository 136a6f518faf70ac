// What makes a generic declaration concrete for a preview: element types, the rank of `..`, values
// of `static` dimensions and tunables. Values that are not given get defaults, which are reported.
#pragma once

#include "frontend/sema/checked_tree.h"
#include "ir/build/build_ir.h"

#include <map>
#include <string>
#include <vector>

namespace ptl {

/// Values by name: `T` → `f16`, `C` → `512`, `..` → `2`, `ROWS` → `16`; `f.C` is for the
/// declaration `f` alone.
using Wanted = std::map<std::string, std::string>;

/// The part of a request that is about one declaration: `f.C` is the `C` of `f`, and stronger than
/// a mere `C`.
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
/// The calls of a declaration: those of benches first, since they have the sizes that matter, then
/// those of tests.
std::vector<CallSite> callsOf(const CheckedProgram &program, const CallableDecl &callee);
/// `bench "…"`, ``the call in `f` ``: for those who read where a value comes from.
std::string describeCaller(const CallableDecl &caller);

/// What is wrong with an element type by this name for a parameter; empty if it may have it.
std::string elementProblem(const TypeParam &param, const std::string &name);
/// The element type for who names none: the first of the usual ones that the parameter may have.
ElemKind usualElement(const TypeParam &param);

/// The entries that a preview of `decl` compiles: itself, or what a test, property or bench calls.
/// Says in `problem` what does not fit; the result is empty then.
std::vector<BoundEntry> bindEntries(const CheckedProgram &program, const CallableDecl &decl,
                                    const Wanted &wanted, std::string &problem);

} // namespace ptl
