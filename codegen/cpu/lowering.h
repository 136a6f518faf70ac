// The lowering of the `ptl` dialect to blocks, vectors and memory: state and helpers shared by the
// lower_*.cpp files.
//
// Code is generated from expressions at positions. An array value is either *materialised*, a
// `View` of memory, or *pending*: `elementAt` then emits the code of one element (or of a vector of
// elements along one axis) from its operands. Reductions, products, scans, sorts and the like have
// a *producer* that writes all elements to a view; so has, by a loop nest around `elementAt`, every
// pending value.
#pragma once

#include "codegen/cpu/microkernel.h"
#include "codegen/cpu/native.h"

#include "ir/dialect/ptl_dialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <functional>
#include <map>
#include <optional>

namespace ptl::ir {
struct RegionBounds;
}

namespace ptl::cpu {

using Values = llvm::SmallVector<mlir::Value, 4>;

/// Elements in memory: address of the first, extents and element strides as index values.
struct View {
  mlir::Type element; ///< logical element type
  mlir::Value data;
  Values extents, strides;
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

class Lowering {
public:
  Lowering(mlir::ModuleOp source, mlir::ModuleOp target, int vectorBytes);
  /// Lowers every function that has a body. False after an error was emitted.
  bool run();

  // --- lower_module.cpp: functions, arguments, errors
  void lowerFunction(mlir::func::FuncOp function);
  void fail(mlir::Operation *op, const llvm::Twine &message);
  mlir::Value index(int64_t value) const { return e.index(value); }
  /// The block that leaves the present function; made on demand.
  mlir::Block *exitBlock();
  mlir::Value textConstant(llvm::StringRef text);
  /// A PtlValue[n] on the stack with scalars, texts (string attributes) and arrays.
  void emitFailure(mlir::Location loc, int32_t status, llvm::StringRef message,
                   mlir::ValueRange values);
  mlir::Value valueArray(llvm::StringRef text, mlir::ValueRange values);
  mlir::Value arrayDescriptor(const View &view);

  // --- lower_value.cpp: pending and materialised values
  void define(mlir::Operation *op);
  Values extentsOf(mlir::Value array);
  mlir::Value lengthOf(mlir::Value array, int64_t axis) { return extentsOf(array)[axis]; }
  /// The view of a materialised value, or of a part, reordering … of one.
  std::optional<View> viewOf(mlir::Value array);
  View materialise(mlir::Value array);
  /// A view in any case, by materialising when needed.
  View requireView(mlir::Value array);
  /// Dense scratch of the present thread, or memory that all threads share.
  View allocate(mlir::Type element, const Values &extents);
  View allocateShared(mlir::Type element, const Values &extents);
  View denseView(mlir::Type element, mlir::Value data, const Values &extents);
  bool isMaterialised(mlir::Value value) const { return views_.count(value); }
  int64_t cost(mlir::Value value);
  /// Makes sure that `elementAt` of the value needs no producer: materialises what is inside it.
  void prepare(mlir::Value array, bool repeated = false);
  void prepareOperands(mlir::Operation *op);
  /// Writes all elements of the value to `dest`.
  void evaluateInto(mlir::Value array, const View &dest);
  void produce(mlir::Operation *op, llvm::ArrayRef<View> dests);
  bool hasProducer(mlir::Operation *op);
  mlir::Value scalarOf(mlir::Value value);
  bool isScalar(mlir::Value value) const {
    return !mlir::isa<ir::ArrayType, ir::RefType>(value.getType());
  }

  /// The register value at a position: a vector if a coordinate varies by lane, else a scalar.
  mlir::Value elementAt(mlir::Value value, const Coords &at);
  mlir::Value elementOfOp(mlir::Operation *op, unsigned result, const Coords &at);
  /// Emits, and remembers, the parts of an element that do not depend on the unknown coordinates.
  void hoist(mlir::Value value, const Coords &at);
  mlir::Value loadAt(const View &view, const Coords &at);
  void storeAt(const View &view, const Coords &at, mlir::Value value);

  // --- loops
  using AtPosition = llvm::function_ref<void(Coords &)>;
  /// Loops over all positions of `axes` of `extents`, in order; fills these coordinates.
  void forAxes(const Values &extents, llvm::ArrayRef<int64_t> axes, Coords &at, AtPosition body);
  /// Vectors along `axis`: `body` runs with lanes and, where needed, a mask in force.
  void forLanes(const Values &extents, int64_t axis, Coords &at, int64_t cost, AtPosition body);
  /// Loops over all positions, the last axis that is not 1 by vectors; `hoisted` is prepared
  /// outside of the inner loop.
  void forAll(const Values &extents, int64_t cost, mlir::ValueRange hoisted, AtPosition body);
  int64_t innerAxis(const Values &extents) const;
  /// Remembered elements and views are forgotten at the end of the scope they are emitted in.
  class Scope {
  public:
    explicit Scope(Lowering &lowering) : lowering_(lowering), size_(lowering.undo_.size()) {
      ++lowering_.scopeDepth_;
    }
    ~Scope() {
      lowering_.unwind(size_);
      --lowering_.scopeDepth_;
    }

  private:
    Lowering &lowering_;
    size_t size_;
  };
  void unwind(size_t size);
  int64_t lanes() const { return lanes_; }
  mlir::Value mask() const { return mask_; }
  /// `value` as it is combined with vectors: splat if needed.
  mlir::Value toLanes(mlir::Value scalar);
  /// Runs `body` with these lanes (0: scalars) and mask in force.
  void withLanes(int64_t lanes, mlir::Value mask, llvm::function_ref<void()> body);
  mlir::Value positionVector(const Coord &coord, mlir::Type scalar);
  Coord shifted(const Coord &coord, mlir::Value offset);
  Coord scaled(const Coord &coord, mlir::Value factor);
  mlir::Value memoAdd(mlir::Value x, mlir::Value y);
  mlir::Value memoMul(mlir::Value x, mlir::Value y);

  // --- lower_elementwise.cpp
  static bool isElementwise(mlir::Operation *op);
  static int64_t costOfOp(mlir::Operation *op);
  mlir::Value combine(mlir::Operation *op, mlir::ValueRange operands);
  Coords broadcastCoords(mlir::Value operand, const Coords &at);

  // --- lower_shape.cpp
  /// The view of the op's result if its source is one; null if the op is no view of anything.
  std::optional<View> viewOfOp(mlir::Operation *op);
  mlir::Value shapeElement(mlir::Operation *op, unsigned result, const Coords &at, bool &handled);
  /// Operand and coordinates that an element of a pure reordering comes from.
  std::optional<std::pair<mlir::Value, Coords>> sourceOf(mlir::Operation *op, unsigned result,
                                                         const Coords &at);
  View boxView(const View &base, mlir::ValueRange offsets, mlir::ValueRange lengths,
               mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped);
  mlir::Value boxElementOutside(mlir::Operation *op, const View &base, mlir::ValueRange offsets,
                                mlir::ValueRange steps, llvm::ArrayRef<int64_t> dropped,
                                mlir::Value outside, const Coords &at);
  bool produceShape(mlir::Operation *op, llvm::ArrayRef<View> dests);
  void lowerStore(ir::StoreOp op);
  void storeBox(mlir::Value value, const View &box, mlir::Value indexArray, int64_t indexAxis,
                llvm::StringRef atomic);
  View broadcastView(View view, const Values &extents);

  // --- lower_reduction.cpp, lower_product.cpp, lower_sort.cpp, lower_gather.cpp
  bool produceReduction(mlir::Operation *op, const View &dest);
  bool produceScan(mlir::Operation *op, const View &dest);
  bool produceProduct(mlir::Operation *op, const View &dest, bool accumulate);
  bool produceSort(mlir::Operation *op, llvm::ArrayRef<View> dests);
  bool produceScatter(mlir::Operation *op, const View &dest);
  mlir::Value gatherElement(mlir::Operation *op, const Coords &at);
  mlir::Value randomElement(mlir::Operation *op, const Coords &at);
  /// A producer whose result is a scalar.
  mlir::Value scalarResult(mlir::Operation *op);
  bool isProductInto(mlir::Operation *op, mlir::Value &base, mlir::Operation *&product);

  // --- lower_control.cpp
  void lowerBlock(mlir::Block &block);
  void lowerOp(mlir::Operation *op);
  void lowerFor(mlir::scf::ForOp op);
  void lowerIf(mlir::scf::IfOp op);
  void lowerWhile(mlir::scf::WhileOp op);
  void lowerParallel(ir::ParallelOp op);
  void lowerGridInPlace(ir::ParallelOp op);
  void lowerPoint(ir::ParallelOp op, mlir::Value linear, llvm::ArrayRef<mlir::Value> counts);
  /// A function for the points [begin, end) of a grid or task.
  mlir::func::FuncOp bodyFunction(llvm::function_ref<void(mlir::Value, mlir::Value)> emit);
  /// Hands values of the present function that `body` uses over by way of memory: cells of their
  /// own sizes, one after the other.
  struct Captured {
    mlir::Value cells;
    int64_t bytes = 0;
    /// Each value as the present function and as the body knows it.
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> values;
  };
  Captured captureInto(mlir::func::FuncOp body);
  void lowerCheck(ir::CheckOp op);
  void lowerScalarOp(mlir::Operation *op);
  /// Memory for what a region carries, filled with the initial value.
  View carriedBuffer(mlir::Operation *op, mlir::Value initial);
  /// Moves what a region yields to the memory of what it carries. Gives the scalars among them.
  void yieldInto(mlir::Operation *yield, mlir::ValueRange values,
                 llvm::ArrayRef<std::optional<View>> buffers, Values &scalars);
  void withScratchScope(llvm::function_ref<void()> body);

  // --- lower_tasks.cpp: programs
  /// Whether this is code of a program that submits grids as tasks.
  bool isOrchestrating() const { return isProgram_ && !inBody; }
  void asHost(llvm::function_ref<void()> body, bool inTasks = true);
  void lowerHostOp(mlir::Operation *op);
  void lowerProgramBlock(mlir::Block &block);
  /// The boxes of a storage that a task touches; nothing where that is not known.
  using RegionsOf =
      llvm::function_ref<std::optional<llvm::SmallVector<ir::RegionBounds, 4>>(mlir::Value ref)>;
  void submitTask(mlir::Operation *op, mlir::func::FuncOp body, mlir::Value count,
                  const Captured &captured, RegionsOf regionsOf);
  /// Emits `body`, which computes arrays for `op`: in a program as a task of its own.
  void asTask(mlir::Operation *op, llvm::function_ref<void()> body);
  void emitAwait(mlir::Value root, bool isWritten, const ir::RegionBounds *box);
  void emitProgramEntry(mlir::func::FuncOp body, llvm::StringRef name, int64_t dims,
                        int64_t scalars);
  /// A constant PtlPlace of what an operation makes.
  mlir::Value placeOfTask(mlir::Operation *op);
  /// What a program's block has allocated is released at its end: all since `from`.
  size_t ownedCount() const { return owned_.size(); }
  void releaseOwned(size_t from);
  void own(mlir::Value data) { owned_.push_back(data); }
  /// Memory that outlives the block: what was allocated since `from` is not released with it.
  void disown(size_t from) { owned_.truncate(from); }

  Emit e;
  mlir::OpBuilder builder;
  mlir::ModuleOp source, target;
  int vectorBytes;
  mlir::Value context; ///< the runtime's context in the present function
  mlir::func::FuncOp function;
  bool inBody = false; ///< inside the body of a parallel loop
  int64_t maxLanes;    ///< lanes of a vector of 32-bit elements

  void bindScalar(mlir::Value key, mlir::Value value);
  void bindView(mlir::Value key, const View &view);

private:
  void rootsOf(mlir::Value pointer, llvm::SetVector<mlir::Value> &roots, bool &onStack);
  mlir::Value taskWords();
  int64_t storeAccess(int64_t position, mlir::Value root, bool isWritten,
                      const ir::RegionBounds *box);

  using ElementKey = std::pair<void *, llvm::SmallVector<void *, 9>>;
  static ElementKey keyOf(mlir::Value value, const Coords &at, mlir::Value mask);
  void defineExtents(mlir::Operation *op);
  bool mustEvaluateNow(mlir::Operation *op);
  void leaveUnless(mlir::Value condition);
  void remember(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

  llvm::DenseMap<mlir::Value, mlir::Value> scalars_;
  llvm::DenseMap<mlir::Value, View> views_;
  llvm::DenseMap<mlir::Value, Values> extents_;
  llvm::DenseMap<mlir::Value, int64_t> costs_;
  std::map<ElementKey, mlir::Value> elements_;
  std::map<std::tuple<void *, void *, int>, mlir::Value> memo_;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts_;
  std::vector<std::function<void()>> undo_;
  int64_t lanes_ = 0;
  mlir::Value mask_;
  bool hoisting_ = false;
  bool usedScratch_ = false;
  bool failed_ = false;
  mlir::Block *exit_ = nullptr;
  unsigned bodies_ = 0, places_ = 0;
  mlir::Value cells_; ///< for what grids capture, one after the other
  bool isProgram_ = false;
  bool isStatic_ = false; ///< of a program: its own code touches no array
  /// How many scopes are open, and how many were where the present code of a program began, for
  /// memory that outlives it and for tasks; -1 if it has none.
  int scopeDepth_ = 0, allocationDepth_ = 0, hostDepth_ = -1;
  unsigned submissions_ = 0;
  mlir::Value taskWords_;
  llvm::DenseSet<mlir::Value> writtenArguments_;  ///< addresses
  llvm::DenseMap<mlir::Value, mlir::Value> refs_; ///< by address of the storage
  llvm::SmallVector<mlir::Value> owned_;
  /// Views that a task makes of values of the program are its own: what they were before.
  std::vector<std::pair<mlir::Value, Values>> *ownViews_ = nullptr;
};

/// Word `counter` (i64) of the Philox stream `seed` (i64), as i32.
mlir::Value emitPhilox(const Emit &e, mlir::Value counter, mlir::Value seed);

} // namespace ptl::cpu
