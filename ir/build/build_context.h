// The state of building one entry, which the functions of this folder read and change; each of
// their headers has one theme.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "ir/build/frame.h"
#include "ir/build/length_names.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace ptl::ir {

struct ManualState;

/// The flags that replace `break` and `continue` (build_exit.h).
struct ExitFlags {
  mlir::Value broke, continued; ///< `i1`
};

/// The values that a loop with a `return` in it carries (build_return.h).
struct ReturnSlot {
  mlir::Value flag; ///< `i1`: a `return` was reached
  Bound value;
};

/// The state while an entry is built.
struct BuildContext {
  BuildContext(mlir::MLIRContext &context, const CheckedProgram &program,
               const SourceManager &sources, const EntryBinding &binding, DiagnosticSink &sink);

  template <typename Op, typename... Args> Op make(mlir::Location loc, Args &&...args) {
    return b.create<Op>(loc, std::forward<Args>(args)...);
  }
  /// A constant of type `index`.
  mlir::Value index(int64_t value);
  /// The location of a place in the source. Code without a place of its own has that of the code
  /// for which it is built.
  mlir::Location location(Span span);
  mlir::Location here(const Expr &expr) { return location(expr.span); }
  /// The value of a local of the present declaration.
  Bound &bound(const Local &local) { return frame->locals[local.index]; }
  /// Reports an error, and returns an empty bound.
  Bound fail(DiagId id, Span span, std::vector<std::string> args);
  /// Whether more has been built than the source allows. It is reported once, where code is
  /// multiplied; static loops and calls then build nothing more.
  bool isTooLarge(Span span, const std::string &what);
  /// Whether what is built belongs to a kernel. The code itself cannot be asked what is around it,
  /// since bodies and arms may be built before they stand in their place.
  bool isInKernel() const { return inGrid || manual; }

  // The module that is built, and the place where code is added.
  mlir::MLIRContext &context;
  const CheckedProgram &program;
  const SourceManager &sources;
  const EntryBinding &binding;
  DiagnosticSink &sink;
  mlir::OpBuilder b;
  Frame *frame = nullptr; ///< of the declaration that is built: the entry, or a callee in it
  mlir::Location place;   ///< of the expression or statement being built
  size_t built = 0;       ///< statements and expressions so far
  size_t mostBuilt = 0;   ///< `kMostWrittenOut` beyond the source
  bool tooLarge = false;

  // Lengths.
  DimContext &dims;
  LengthNames names; ///< by the `where`s of the entry and of what it calls, and assertions
  /// Bounds of lengths from the entry's `where`s, for machines that need them on chip.
  std::map<SymbolId, int64_t> capacities;
  std::map<SymbolId, mlir::Value> rootValues;
  std::map<std::string, unsigned> nameCounts;

  // The position inside that declaration.
  std::optional<ExitFlags> exits;               ///< of the innermost loop with exits
  std::optional<ReturnSlot> returnSlot;         ///< while inside a loop that has a `return`
  Bound returned;                               ///< value of the `return` just built
  std::deque<ReturnStmt> bodyResults;           ///< made for bodies that end in a value
  std::map<const Expr *, mlir::Value> prebuilt; ///< operands of the condition being built
  bool inGrid = false;                          ///< in the body of a grid
  std::shared_ptr<ManualState> manual;          ///< while a manual kernel is being built

  // Schedules.
  llvm::SmallVector<mlir::Attribute> items; ///< see `attrs::items`
  /// Numbers of `fuse` items, by the declaration being built and their list.
  std::map<std::pair<const Frame *, const ScheduleLabels *>, int64_t> fusions;
  int64_t fuseCount = 0;
  std::set<std::pair<FileId, uint32_t>> refused; ///< items that were told to have no effect
};

} // namespace ptl::ir
