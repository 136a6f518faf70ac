// The state of building one entry, which the functions of this folder read and change. Each of
// their headers has one subject.
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

/// The values carried by a loop that contains a `return` (build_return.h).
struct ReturnSlot {
  mlir::Value flag; ///< `i1`: a `return` has been reached
  Bound value;
};

/// The state of building an entry.
struct BuildContext {
  BuildContext(mlir::MLIRContext &context, const CheckedProgram &program,
               const SourceManager &sources, const EntryBinding &binding, DiagnosticSink &sink);

  template <typename Op, typename... Args> Op make(mlir::Location loc, Args &&...args) {
    return b.create<Op>(loc, std::forward<Args>(args)...);
  }
  /// A constant of type `index`.
  mlir::Value index(int64_t value);
  /// The location of a span in the source. Code without a span has the location of the code for
  /// which it is built.
  mlir::Location location(Span span);
  mlir::Location here(const Expr &expr) { return location(expr.span); }
  /// The value of a local of the present declaration.
  Bound &bound(const Local &local) { return frame->locals[local.index]; }
  /// Reports an error, and returns an empty bound.
  Bound fail(DiagId id, Span span, std::vector<std::string> args);
  /// Whether more has been built than the source allows (limits.h). It is reported once, where code
  /// is multiplied; static loops and calls then build nothing more.
  bool isTooLarge(Span span, const std::string &what);
  /// Whether the code being built belongs to a kernel. The IR cannot be inspected for that, because
  /// bodies and branches may be built before they are inserted.
  bool isInKernel() const { return inGrid || manual; }

  // The module being built, and the insertion point.
  mlir::MLIRContext &context;
  const CheckedProgram &program;
  const SourceManager &sources;
  const EntryBinding &binding;
  DiagnosticSink &sink;
  mlir::OpBuilder b;
  Frame *frame = nullptr; ///< the declaration being built: the entry, or an inlined callee
  mlir::Location place;   ///< of the expression or statement being built
  size_t built = 0;       ///< number of statements and expressions so far
  size_t mostBuilt = 0;   ///< the limit: `kMostWrittenOut` in addition to the source
  bool tooLarge = false;

  // Lengths.
  DimContext &dims;
  LengthNames names; ///< from the `where`s of the entry and its callees, and from assertions
  /// Upper bounds of lengths from the entry's `where`s, for machines that need them on chip.
  std::map<SymbolId, int64_t> capacities;
  std::map<SymbolId, mlir::Value> rootValues;
  std::map<std::string, unsigned> nameCounts;

  // The position inside that declaration.
  std::optional<ExitFlags> exits;               ///< of the innermost loop with exits
  std::optional<ReturnSlot> returnSlot;         ///< while inside a loop that has a `return`
  Bound returned;                               ///< value of the `return` just built
  std::deque<ReturnStmt> bodyResults;           ///< created for bodies that end in a value
  std::map<const Expr *, mlir::Value> prebuilt; ///< operands of the condition being built
  /// By values of four bits: the same numbers as floats, which they were made of (build_packed.h).
  llvm::DenseMap<mlir::Value, mlir::Value> floats;
  bool inGrid = false;                 ///< in the body of a grid
  std::shared_ptr<ManualState> manual; ///< while a manual kernel is being built

  // Schedules.
  llvm::SmallVector<mlir::Attribute> items; ///< see `attrs::items`
  /// The numbers of `fuse` items, by the declaration being built and their list.
  std::map<std::pair<const Frame *, const ScheduleLabels *>, int64_t> fusions;
  int64_t fuseCount = 0;
  std::set<std::pair<FileId, uint32_t>> refused; ///< items that were reported to have no effect
};

} // namespace ptl::ir
