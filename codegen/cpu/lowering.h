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
  /// The distance in bytes from an element of a tile to the same element of the tile that the same
  /// thread processes next; null if that is unknown.
  mlir::Value ahead = {};
  int64_t rank() const { return static_cast<int64_t>(extents.size()); }
};

/// A position along one axis: `base` for all lanes, `base + lane * step`, or any vector of
/// positions. A coordinate without `base` and `vector` is unknown as yet.
struct Coord {
  mlir::Value base = {};
  int64_t step = 0;
  mlir::Value vector = {};
  bool isUniform() const { return base && step == 0; }
  bool isUnknown() const { return !base && !vector; }
};
using Coords = llvm::SmallVector<Coord, 4>;

/// The integer if `value` is a constant.
std::optional<int64_t> constantOf(mlir::Value value);
/// Whether a value of the source is a scalar; all others are arrays or storage of arrays.
inline bool isScalar(mlir::Value value) { return !ir::isArrayLike(value.getType()); }
/// The array type of a value, null if it has another one.
inline ir::ArrayType arrayType(mlir::Value value) {
  return mlir::dyn_cast<ir::ArrayType>(value.getType());
}

struct OnePass;

/// How loads prefetch later elements of the row that they read (tile_ahead.h).
enum class RowFetch : uint8_t {
  None,
  SideBySide, ///< for one of several rows that are read together
  Alone,      ///< for a row that is read by itself, if this pass is the first to read it
};

/// The state of a program, whose own code submits grids as tasks.
struct ProgramState {
  bool isStatic = false; ///< the program's own code touches no array
  /// The number of scopes that were open where the present piece of the program's own code began;
  /// -1 outside such code. The first scope holds memory that outlives this code, the second memory
  /// of tasks.
  int allocationDepth = 0, hostDepth = -1;
  unsigned submissions = 0;                      ///< so far
  mlir::Value taskWords;                         ///< memory for the accesses of one submission
  llvm::DenseSet<mlir::Value> writtenArguments;  ///< addresses
  llvm::DenseMap<mlir::Value, mlir::Value> refs; ///< by address of the storage
  /// memory that the open blocks release at their ends, in order of allocation
  llvm::SmallVector<mlir::Value> owned;
  /// Not null while a task is emitted. The views that a task makes of the program's values are
  /// valid in the task alone; this list holds the program's own views, which are restored
  /// afterwards.
  std::vector<std::pair<mlir::Value, Values>> *ownViews = nullptr;
};

/// The state of the lowering of one module. The lowering itself is free functions that read and
/// change this state.
struct Lowering {
  Lowering(mlir::ModuleOp source, mlir::ModuleOp target, const VectorUnit &unit);

  mlir::Value index(int64_t value) const { return e.index(value); }
  /// Reports that `op` cannot be lowered; the lowering then gives no result.
  void fail(mlir::Operation *op, const llvm::Twine &message);
  /// Sets the register value of a scalar of the source, or the view of an array or storage.
  void bindScalar(mlir::Value key, mlir::Value value) { scalars[key] = value; }
  void bindView(mlir::Value key, const View &view);
  bool isMaterialised(mlir::Value value) const { return views.count(value); }
  /// Whether the present code is the program's own code, which submits grids as tasks.
  bool isOrchestrating() const { return isProgram && !inBody; }
  /// Registers `undo` to run at the end of the present scope.
  void remember(std::function<void()> undo) { undos.push_back(std::move(undo)); }

  mlir::OpBuilder builder;
  Emit e; ///< emits at the place of `builder`
  mlir::ModuleOp source, target;
  int64_t maxLanes; ///< lanes of a vector of 32-bit elements
  bool failed = false;

  // The function that is being emitted.
  mlir::func::FuncOp function;
  mlir::Value context;         ///< the runtime's context
  mlir::Block *exit = nullptr; ///< the block that leaves the function, once there is one
  bool inBody = false;         ///< it is the body of a parallel loop
  bool usedScratch = false;    ///< the present scope of scratch memory has used some
  /// the buffer of captured values of grids, laid out one after the other
  mlir::Value cells;
  unsigned bodies = 0, places = 0; ///< made so far, for their names
  bool isProgram = false;
  ProgramState program;

  // What values of the source have been lowered to.
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// Scalars that their grid has already bound, so that they are skipped at their place in the
  /// block.
  llvm::DenseSet<mlir::Operation *> settled;
  llvm::DenseMap<mlir::Value, View> views;
  /// Arrays whose memory may be written once nobody reads them any more (insert_in_place.h).
  llvm::DenseSet<mlir::Value> overwritable;
  llvm::DenseMap<mlir::Value, Values> extents;
  llvm::DenseMap<mlir::Value, int64_t> costs;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts;

  // Common subexpressions: what has been emitted in the open scopes.
  using ElementKey = std::pair<void *, llvm::SmallVector<void *, 9>>;
  std::map<ElementKey, mlir::Value> elements;
  std::map<std::tuple<void *, void *, int>, mlir::Value> sums; ///< and products, of positions
  std::vector<std::function<void()>> undos;
  int scopeDepth = 0;

  // The form in which elements are emitted at present.
  int64_t lanes = 0; ///< 0: scalars
  mlir::Value mask;  ///< of the lanes; null: all
  bool hoisting = false;
  std::set<ElementKey> hoisted; ///< values that `hoist` has visited for the present loop
  /// What the loop that is being prepared computes in registers and has not emitted yet
  /// (one_pass.h); null outside such a loop.
  OnePass *pass = nullptr;

  /// The last axis of the grid whose body is being emitted: its position in the source, and its
  /// distance from tile to tile.
  mlir::Value gridPosition, gridStep;
  /// Tiles, by their addresses, that the present loop over elements reads, and those that an
  /// earlier loop has read (tile_ahead.h).
  llvm::DenseSet<mlir::Value> readNow, readBefore;
  bool fetchesAhead = false;             ///< the present loop prefetches the next tile
  RowFetch fetchesRows = RowFetch::None; ///< loads prefetch later elements of their row
  size_t vectorOfStep = 0;               ///< the number of the vector that they are for
};

/// A scope. At its end the elements and views that were remembered in it are forgotten, since their
/// code does not dominate what follows.
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
