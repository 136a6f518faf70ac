// The state of the lowering of the `ptl` dialect to blocks, vectors and memory. The functions of
// this folder, with one header per theme, read and change it while they lower a module.
//
// Code is generated from expressions at positions. An array value is either *materialised*, a
// `View` of memory, or *pending*: `elementAt` (elements.h) then emits the code of one element (or
// of a vector of elements along one axis) from its operands. Reductions, products, scans, sorts and
// the like have a *producer* that writes all elements to a view. Every pending value can be
// produced by a loop nest around `elementAt` (lower_value.h).
#pragma once

#include "codegen/cpu/elem_cast.h"
#include "codegen/cpu/memory.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace ptl::cpu {

using Values = llvm::SmallVector<mlir::Value, 4>;

/// Elements in memory: address of the first, extents and element strides as index values.
struct View {
  mlir::Type element; ///< logical element type
  mlir::Value data;
  Values extents, strides;
  /// From an element of a tile to the same element of the tile that its thread has next, in bytes; null where that is not known.
  mlir::Value ahead = {};
  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
};

/// A position along one axis: `base` for all lanes, `base + lane * step`, or any vector of
/// positions. A coordinate without base and vector stands for one that is not known yet.
struct Coord {
  mlir::Value base = {};
  int64_t step = 0;
  mlir::Value vector = {};
  bool isUniform() const { return base && step == 0; }
  bool isUnknown() const { return !base && !vector; }
};
using Coords = llvm::SmallVector<Coord, 4>;

/// The number if `value` is a constant.
std::optional<int64_t> constantOf(mlir::Value value);
/// Whether a value of the source is a scalar; all others are arrays or storage of arrays.
inline bool isScalar(mlir::Value value) {
  return !mlir::isa<ir::ArrayType, ir::RefType>(value.getType());
}
/// The array type of a value, null if it has another one.
inline ir::ArrayType arrayType(mlir::Value value) {
  return mlir::dyn_cast<ir::ArrayType>(value.getType());
}

struct OnePass;

/// The state of a program, whose own code submits grids as tasks.
struct ProgramState {
  bool isStatic = false; ///< its own code touches no array
  /// The number of scopes that were open where the present code of the program began; -1 if it has
  /// none. The first is for memory that outlives this code, the second for tasks.
  int allocationDepth = 0, hostDepth = -1;
  unsigned submissions = 0;                      ///< so far
  mlir::Value taskWords;                         ///< memory for the accesses of one submission
  llvm::DenseSet<mlir::Value> writtenArguments;  ///< addresses
  llvm::DenseMap<mlir::Value, mlir::Value> refs; ///< by address of the storage
  llvm::SmallVector<mlir::Value> owned; ///< memory that the open blocks release at their ends
  /// Set while a task is emitted. The views that a task makes of values of the program are its own;
  /// here are the earlier ones, which are restored after it.
  std::vector<std::pair<mlir::Value, Values>> *ownViews = nullptr;
};

/// The state while a module is lowered. Every part of the lowering is functions that read and
/// change it.
struct Lowering {
  Lowering(mlir::ModuleOp source, mlir::ModuleOp target, const VectorUnit &unit);

  mlir::Value index(int64_t value) const { return e.index(value); }
  /// Reports that `op` cannot be lowered, so that there is no result.
  void fail(mlir::Operation *op, const llvm::Twine &message);
  /// Sets the register value of a scalar of the source, or the view of an array or storage.
  void bindScalar(mlir::Value key, mlir::Value value) { scalars[key] = value; }
  void bindView(mlir::Value key, const View &view);
  bool isMaterialised(mlir::Value value) const { return views.count(value); }
  /// Whether this is code of a program that submits grids as tasks.
  bool isOrchestrating() const { return isProgram && !inBody; }
  /// Registers `undo` to run at the end of the present scope.
  void remember(std::function<void()> undo) { undos.push_back(std::move(undo)); }

  mlir::OpBuilder builder;
  Emit e; ///< emits at the place of `builder`
  mlir::ModuleOp source, target;
  int64_t maxLanes; ///< lanes of a vector of 32-bit elements
  bool failed = false;

  // The function that is made.
  mlir::func::FuncOp function;
  mlir::Value context;             ///< the runtime's context
  mlir::Block *exit = nullptr;     ///< the block that leaves the function, once there is one
  bool inBody = false;             ///< it is the body of a parallel loop
  bool usedScratch = false;        ///< the present scope of scratch memory has used some
  mlir::Value cells;               ///< for what grids capture, one after the other
  unsigned bodies = 0, places = 0; ///< made so far, for their names
  bool isProgram = false;
  ProgramState program;

  // What values of the source have been lowered to.
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// Scalars that their grid has bound, so that they are not lowered where they stand.
  llvm::DenseSet<mlir::Operation *> settled;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, Values> extents;
  llvm::DenseMap<mlir::Value, int64_t> costs;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts;

  // What has been emitted in the scopes that are open.
  using ElementKey = std::pair<void *, llvm::SmallVector<void *, 9>>;
  std::map<ElementKey, mlir::Value> elements;
  std::map<std::tuple<void *, void *, int>, mlir::Value> sums; ///< and products, of positions
  std::vector<std::function<void()>> undos;
  int scopeDepth = 0;

  // The form in which elements are emitted at present.
  int64_t lanes = 0; ///< 0: scalars
  mlir::Value mask;  ///< of the lanes; null: all
  bool hoisting = false;
  std::set<ElementKey> hoisted; ///< what has been looked at for the present loop
  /// What the loop that is being prepared computes in registers and has not been met yet (one_pass.h); null while none is.
  OnePass *pass = nullptr;

  /// The last axis of the grid whose body is emitted: its position in the source, and how far it moves from tile to tile.
  mlir::Value gridPosition, gridStep;
  /// Tiles, by their addresses, that the present pass over elements reads, and those that an earlier pass has read (tile_ahead.h).
  llvm::DenseSet<mlir::Value> readNow, readBefore;
  bool fetchesAhead = false; ///< the present pass does
  bool fetchesRows = false;  ///< loads ask for what comes later in their row
};

/// A scope, at whose end the elements and views that were remembered in it are forgotten.
class Scope {
public:
  explicit Scope(Lowering &lowering) : l_(lowering), size_(lowering.undos.size()) {
    ++l_.scopeDepth;
  }
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  Lowering &l_;
  size_t size_;
};

} // namespace ptl::cpu
