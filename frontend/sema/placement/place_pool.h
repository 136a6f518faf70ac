// Pages of pools in the walk over a program.
#pragma once

#include "frontend/sema/placement/placement.h"

namespace ptl {

/// Thrown to end the walk after an error has been reported.
struct Refused {};

/// The parts of `if p < find(kv, rows) { kv[p] } else { keep(kv, page) }`.
struct PageForm {
  const Local *pool = nullptr;
  const Expr *counter = nullptr; ///< `p`
  const Expr *rows = nullptr;
  const Expr *taken = nullptr;       ///< the `p` of `kv[p]`
  const ConvertExpr *keep = nullptr; ///< with the page
};

/// Whether an `if` takes a page from a pool. If it has another form than the required one, reports
/// that and throws.
std::optional<PageForm> pageFormOf(const IfExpr &expr, DiagnosticSink &sink);

/// Whether a `let` makes a pool, which is added to the program; `isInside`: of a loop or a `fn`.
bool makesPool(PlacedProgram &placed, const Tree &tree, const LetStmt &stmt, bool isInside,
               DiagnosticSink &sink);

class Placer;

/// A choice that takes a page from a pool, in the walk over a program.
class PoolWalk {
public:
  explicit PoolWalk(Placer &placer) : p_(placer) {}
  ValueId page(const IfExpr &expr, const PageForm &form);

private:
  void checkWhole(const PlacedPage &page, const Expr &made);
  void store(PlacedPage &page);
  ValueId found(PlacedPage &page, const IfExpr &expr);

  Placer &p_;
};

/// Determines what the keys of all pages depend on, once all loops are known.
void findPageSources(PlacedProgram &placed, DiagnosticSink &sink);

/// Reports a misuse of a pool, and throws.
[[noreturn]] void refusePool(DiagnosticSink &sink, Span span, const std::string &what,
                             const std::string &why);

} // namespace ptl
