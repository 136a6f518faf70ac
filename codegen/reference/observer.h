// Observers of a program that is interpreted: coverage of tests, and debuggers.
#pragma once

#include "codegen/reference/interpreter.h"

#include <string_view>

namespace ptl::reference {

/// A call that is being executed.
struct ActiveCall {
  const CallableDecl *decl = nullptr;
  Span at = kNoSpan;                  ///< the statement that is being executed
  const std::vector<Value> *locals;   ///< by `Local::index`; none: not bound yet
  const std::vector<ElemKind> *elems; ///< of `decl->typeParams`
  const std::vector<int64_t> *prefix; ///< the extents of `..`
};

/// The state of a run. It may be inspected only during a callback of an observer.
class RunView {
public:
  virtual ~RunView() = default;
  /// Innermost first.
  virtual std::vector<ActiveCall> calls() const = 0;
  /// The present value of a dimension, a tunable or a loop's variable.
  virtual std::optional<int64_t> valueOf(SymbolId symbol) const = 0;
};

/// What is about to be executed: a statement, or the expression that is the value of a block.
struct Step {
  const void *node = nullptr; ///< the `Stmt` or `Expr`
  Span span;                  ///< of a loop, an `if` or a `task`: without its body
};

/// The alternatives of control flow at one place: the blocks of an `if`, whether the right side of
/// `and` and `or` is evaluated, and the lengths of tiles.
enum class Arm : uint8_t { Then, Else, Right, OnlyLeft, WholeTile, PartOfTile, NoTile };
inline constexpr size_t kArmCount = 7;
/// `then`, `a part of a tile` …
std::string_view armName(Arm arm);

class Observer {
public:
  virtual ~Observer() = default;
  /// The callee's dimensions and parameters are bound by now.
  virtual void onCall(const CallableDecl &, const RunView &) {}
  virtual void onStep(const Step &, const RunView &) {}
  /// `node` is the `if`, the logical expression, or the `TilesExpr`.
  virtual void onArm(const void * /*node*/, Arm) {}
  /// An expectation failed, or the run stops.
  virtual void onFailure(Span, const std::string & /*message*/, const RunView &) {}
};

/// The step of a statement, as observers receive it.
Step stepOf(const Stmt &stmt);
Step stepOf(const Expr &value);

} // namespace ptl::reference
