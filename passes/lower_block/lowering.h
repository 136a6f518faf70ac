// The lowering of one kernel for one kind of core; of a mixed kernel, for both. Each side makes its
// own instructions; what crosses is pushed and popped at the same place: both agree on the order.
#pragma once

#include "ir/dialect/instruction_op.h"
#include "passes/analysis/shared_buffers.h"
#include "passes/lower_block/limits.h"
#include "passes/lower_block/loop_stages.h"
#include "passes/lower_block/tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace ptl::block {

class KernelLowering {
public:
  KernelLowering(mlir::func::FuncOp function, CoreKind core, const CoreAssignment &cores,
                 const Machine &machine, const LowerOptions &options, const Report &report);

  /// Binds a value outside of the grid to an argument of the function: an array to its pointer.
  void bindScalar(mlir::Value value, mlir::Value argument) { scalars_[value] = argument; }
  void bindPointer(mlir::Value array, mlir::Value pointer, mlir::StringAttr name) {
    pointers_[array] = pointer;
    pointerNames_[pointer] = name;
  }
  /// Binds a length of arrays in global memory by its name in types.
  void bindLength(mlir::StringAttr symbol, mlir::Value argument) {
    lengths_[symbol] = argument;
    globalLengths_[symbol] = argument;
  }
  /// Global memory of the queues: `bytes` per core group.
  void bindWorkspace(mlir::Value pointer, int64_t bytes) {
    workspace_ = pointer;
    workspaceBytes_ = bytes;
  }
  /// The function of the other kind of core.
  void bindPeer(mlir::StringAttr name) { peer_ = name; }

  /// Lowers the grid into the function's body, its points dealt to the core groups. False after an
  /// error.
  bool lowerGrid(ir::ParallelOp grid);

private:
  // control: lower_control.cpp
  void lowerPoints(ir::ParallelOp grid);
  void lowerBlock(mlir::Block &block), meet(mlir::Location loc);
  void lowerOp(Operation *op), lowerPrint(Operation *op);
  void lowerNestedGrid(ir::ParallelOp grid);
  void lowerFor(mlir::scf::ForOp loop), lowerIf(mlir::scf::IfOp branch);
  // loops in stages: lower_stages.cpp
  using CarriedTiles = llvm::ArrayRef<std::pair<unsigned, Tile>>;
  void lowerInStages(mlir::scf::ForOp loop, const LoopStages &stages, CarriedTiles tiles);
  void lowerStage(mlir::scf::ForOp loop, const LoopStages &stages, int stage, mlir::Value variable,
                  mlir::Value number, CarriedTiles tiles);
  void lowerKept(mlir::Operation *op, mlir::Value value, mlir::Value number);
  void lowerAndKeep(mlir::Operation *op, const LoopStages &stages, mlir::Value number);
  void fetchKept(mlir::Operation *op, const LoopStages &stages, mlir::Value number);
  struct Carried;
  void lowerWhile(mlir::scf::WhileOp loop), lowerCheck(ir::CheckOp check);
  std::optional<Carried> carriedBuffers(mlir::Operation *op, mlir::ValueRange arguments);
  llvm::SmallVector<mlir::Value> scalarsAmong(mlir::ValueRange values);
  void bindCarried(mlir::ValueRange arguments, mlir::ValueRange scalars, const Carried &carried);
  bool carries(mlir::Value value) const;
  Tile carriedTile(mlir::scf::ForOp loop, unsigned index);
  void keep(mlir::Value value, const Tile &into, mlir::Location loc);
  void keepAll(mlir::ValueRange values, CarriedTiles tiles, mlir::Location loc);
  mlir::Value iterationOf(mlir::scf::ForOp loop);
  bool lowerScalarOp(mlir::Operation *op);
  mlir::Value lowerScalarArithmetic(mlir::Operation *op);

  // values: tiles.cpp
  void fail(mlir::Operation *op, const std::string &what);
  mlir::Value scalarOf(mlir::Value value);
  bool isScalar(mlir::Value value) const;
  bool isNeeded(mlir::Value scalar) const {
    return core_ == CoreKind::Vector || !cores_.isMixed() || cubeScalars_.contains(scalar);
  }
  const Tile *tileOf(mlir::Value value);
  void setTile(mlir::Value value, Tile tile);
  std::optional<Extents2> extentsOf(mlir::Operation *op, mlir::Type type);
  int64_t capacityOf(const ir::Extent &extent) const;
  mlir::Value lengthOf(const ir::Extent &extent);
  mlir::Value constant(int64_t value), constantOf(mlir::Type type, double value),
      minimum(mlir::Value a, mlir::Value b);
  mlir::Location named(mlir::Value value) const;

  // buffers: buffers.cpp
  mlir::Value allocate(ir::Place place, llvm::StringRef layout, const Extents2 &extents,
                       mlir::Type element, mlir::Location loc, bool rotates = false);
  mlir::Value shared(int64_t number, llvm::function_ref<mlir::Value()> make);
  void findWideRows(ir::ParallelOp grid);
  int64_t maskBytes(int64_t cols) const;
  mlir::Value allocateLike(const Tile &like, mlir::Location loc);
  std::pair<Extents2, mlir::Type> storage(const Tile &tile);
  pto::TileBufType allocateType(const Tile &like);
  mlir::Value destination(mlir::Operation *op, const Tile &like,
                          llvm::ArrayRef<unsigned> inPlace = {});
  bool mayWrite(mlir::Operation *op, mlir::Value buffer, llvm::ArrayRef<unsigned> inPlace);
  mlir::Value reshape(mlir::Value buffer, pto::TileBufType type, mlir::Value rows,
                      mlir::Value cols);
  mlir::Value columnView(const Tile &column), fullView(mlir::Value buffer);
  Tile materialise(const Tile &tile, mlir::Location loc);
  Tile expand(const Tile &tile, const Extents2 &extents, mlir::Location loc);
  Tile asColumn(const Tile &matrix, mlir::Type type, mlir::Location loc);
  pto::TileBufType tileType(ir::Place place, llvm::StringRef layout, const Extents2 &extents,
                            mlir::Type element);
  mlir::Operation *emit(mlir::Location loc, InstructionId id, mlir::ValueRange ins,
                        mlir::ValueRange outs,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

  // global memory: lower_memory.cpp
  void lowerSlice(mlir::Operation *op), lowerStore(ir::StoreOp store);
  llvm::SmallVector<mlir::Value> stridesOf(mlir::Value array);
  mlir::Value globalLength(mlir::Value array, size_t axis);
  mlir::Type storeBoxType(ir::StoreOp store);
  mlir::Value elementsBefore(mlir::ValueRange offsets, llvm::ArrayRef<mlir::Value> strides,
                             llvm::ArrayRef<size_t> matrix);
  std::optional<MemoryBox> boxOf(mlir::Operation *op, Extents2 &extents);
  mlir::Value partition(const MemoryBox &box, const Extents2 &extents, mlir::Type element,
                        mlir::Location loc, bool transposed = false, bool asRow = false);
  Value onceOnly(Operation *op, Value present, llvm::ArrayRef<ir::Extent> extents);
  void whenPresent(const MemoryBox &box, mlir::Location loc, llvm::function_ref<void()> body);
  Tile load(const Tile &memory, mlir::Location loc);
  void sliceTile(mlir::Operation *op, const Tile &source);

  // boxes of global memory that are no matrix: lower_boxes.cpp
  std::optional<GlobalBox> globalBox(Operation *op, const BoxOperands &in, Type boxType);
  Value elementAt(const GlobalBox &box, Indices at);
  Value matrixView(Value pointer, Value element, Value rows, Value cols, Value rowStride,
                   Type type);
  Value allInside(llvm::ArrayRef<GlobalAxis> axes), isInside(const GlobalBox &box, Indices at);
  Value readGlobal(Value pointer, Value element, Type type);
  void loadRow(const ShapedTile &to, Indices at, Value pointer, Value element, Value length);
  void loadRows(const GlobalBox &box, const ShapedTile &to);
  void loadElements(const GlobalBox &box, const ShapedTile &to, Value outside),
      loadInside(const GlobalBox &box, const ShapedTile &to, Value outside);
  void loadBox(Operation *op, const BoxOperands &in), takeGlobal(Operation *op, Operation *box);
  Value apart(Value column, int64_t rows, Value count, Type element);
  void storeApart(const StoreTarget &target, Value row, int64_t cols, Value length, Indices outer);
  void storeBox(ir::StoreOp store, const BoxOperands &in,
                llvm::ArrayRef<mlir::NamedAttribute> attributes);
  void storeSplat(const StoreTarget &target, Value scalar);
  void storeTile(const StoreTarget &target, const ShapedTile &from, Type valueType);
  void storeColumn(const StoreTarget &target, const ShapedTile &from, Indices lengths);
  bool fillsBox(ir::StoreOp store);
  void storeScalar(ir::StoreOp store, const BoxOperands &in);
  Tile conditionsOf(const Tile &bytes, Location loc), bytesOf(const Tile &mask, Location loc);
  bool isMatrix(const BoxOperands &in, Type boxType);

  // vector instructions: lower_elementwise.cpp
  bool lowerVector(Operation *op), lowerByInstruction(Operation *op);
  std::optional<Tile> operandTile(mlir::Operation *op, mlir::Value operand);
  std::optional<Tile> resultTile(mlir::Operation *op);
  void scalarise(Tile &tile, const Tile &result);
  void lowerUnary(mlir::Operation *op, InstructionId id);
  void lowerBinary(mlir::Operation *op, const struct BinaryForms &forms);
  void lowerCompare(mlir::Operation *op, pto::CmpMode mode, pto::CmpMode swapped);
  void lowerSelect(Operation *op), lowerConvert(Operation *op);
  void lowerReduction(mlir::Operation *op, InstructionId row, InstructionId column);
  void reduceAll(mlir::Operation *op, Tile source, InstructionId row);
  void beginUnlessEmpty(mlir::Value length, mlir::Operation *op, const Tile &out);

  // what both sides may make for themselves: lower_shape.cpp
  bool lowerShared(mlir::Operation *op);
  void lowerSplat(Operation *op), lowerIndex(Operation *op), lowerView(Operation *op),
      lowerTranspose(Operation *op), lowerBroadcast(Operation *op);

  // row by row, element by element: elements.cpp
  ShapedTile shaped(const Tile &tile, Type type);
  Value plus(Value a, Value b), times(Value a, Value b), asPosition(Value scalar);
  Value rowAt(const ShapedTile &shape, Indices at), elementOf(const ShapedTile &shape, Indices at);
  void forEach(Indices lengths, llvm::function_ref<void(Indices)> body);
  void whenInside(const Movement &movement, Indices at, llvm::function_ref<void()> body);
  Value readElement(const ShapedTile &shape, Indices at);
  void writeElement(const ShapedTile &shape, Indices at, Value value);
  Value window(Value buffer, Value row, Value col, int64_t rows, int64_t cols, Value validRows,
               Value validCols);
  bool movesInRows(const ShapedTile &shape, Value firstCol) const;
  void move(const ShapedTile &from, const ShapedTile &to, const Movement &movement, Location loc);
  void moveRows(const ShapedTile &from, const ShapedTile &to, const Movement &movement);
  bool takes(InstructionId id, llvm::ArrayRef<Type> types) const;

  // operations that move elements: lower_moves.cpp
  bool lowerMove(Operation *op), lowerOrder(Operation *op);
  void bindLengths(Operation *op);
  std::optional<ShapedTile> sourceOf(Operation *op, Value operand);
  std::optional<ShapedTile> newResult(Operation *op, unsigned number = 0);
  void sliceByMoves(Operation *op, const Tile &source);
  void lowerInsert(Operation *op), lowerTake(Operation *op), lowerScatter(Operation *op),
      lowerConcat(Operation *op), lowerReshape(Operation *op), lowerPermutation(Operation *op),
      lowerInterleave(Operation *op), lowerDeinterleave(Operation *op), lowerGather(Operation *op);
  Tile positionsInTile(const Tile &from, const Tile &index, Location loc);
  bool gatherByInstruction(const ShapedTile &from, const ShapedTile &index, const ShapedTile &to,
                           size_t axis, Location loc);
  Tile spread(const Tile &tile, Type from, Type to, Operation *op);

  // bits, masks, scalars: lower_bits.cpp, lower_scalars.cpp
  bool lowerBits(Operation *op), lowerByElements(Operation *op);
  Value wordsOf(Value buffer, Type element);
  Value sameWidth(const Tile &tile, Type element);
  void fillWith(const Tile &tile, Value scalar, Location loc);
  void copy(const Tile &from, const Tile &to, Location loc);
  void lowerLogic(Operation *op, InstructionId id, bool scratch);
  void lowerShift(Operation *op), lowerFmod(Operation *op), lowerBitcast(Operation *op);
  Tile numbersOf(const Tile &mask, Location loc), maskOf(const Tile &numbers, Location loc);

  // orderings, scans: lower_order.cpp
  using Step = llvm::function_ref<llvm::SmallVector<Value>(mlir::ValueRange, Indices)>;
  using Done = llvm::function_ref<void(Indices, mlir::ValueRange)>;
  Value identityOf(llvm::StringRef how, Type element);
  Value scalarConstant(Type element, double number, const llvm::APInt *bits = nullptr);
  void lowerScan(Operation *op), reduceByElements(Operation *op), lowerSort(Operation *op),
      lowerFact(Operation *op);
  void foldAxes(const ShapedTile &from, llvm::ArrayRef<int64_t> axes, mlir::ValueRange start,
                Step step, Done done);
  void searchByElements(Operation *op, const ShapedTile &from, llvm::ArrayRef<int64_t> axes,
                        Done done);
  void sortRows(Operation *op, const Tile &source, bool descending,
                llvm::function_ref<void(Value, Value, Value)> give);
  IndexVector columnPosition(const ShapedTile &shape, Value row);
  Value comesBefore(Value a, Value b, bool descending);
  void sortByElements(Operation *op, const ShapedTile &from, const ShapedTile *keys,
                      const ShapedTile *places, bool descending);

  // products: lower_product.cpp
  void stage(mlir::Operation *slice, const Tile &memory);
  Tile loadMatrix(const Tile &memory, bool transposed, mlir::Location loc);
  Tile asProductReads(const Tile &tile);
  void lowerCube(mlir::Operation *op);
  Tile accumulatorTile(mlir::scf::ForOp loop, mlir::Value argument);
  void lowerMatmul(mlir::Operation *op);
  void zeroIfEmpty(mlir::Value lower, mlir::Value upper, const Tile &out, mlir::Type operand);
  int64_t contractedStep(const Tile &a, int64_t rows, int64_t cols) const;
  bool pinStep(mlir::Operation *op, const Tile &a, const Tile &out);
  int64_t contractedPiece(const Tile &a, const Tile &b, const Tile &out, int64_t step) const;
  void multiply(const Tile &a, const Tile &b, const Tile &out, Value first, Location loc);
  void multiplyStep(const Tile &a, const Tile &b, const Tile &out, mlir::Value begins,
                    mlir::Value at, mlir::Value length, int64_t step, mlir::Location loc);
  void multiplyFromMemory(const Tile &a, const Tile &b, const Tile &out, mlir::Value first,
                          mlir::Location loc, int64_t step);
  llvm::StringRef leftLayout() const;

  // crossings: queues.cpp
  void openQueues(ir::ParallelOp grid), cross(mlir::Value value);
  void push(mlir::Value value, mlir::Value queue), popFor(mlir::Operation *op);
  Value rowsOf(Value buffer, pto::TileBufType type, const Extents2 &extents, Location loc);
  void pop(mlir::Value value, mlir::Value queue, bool toVector);
  void freeSlots(mlir::Operation *after);
  mlir::Value dealt(mlir::Value length, const ir::Extent &extent, mlir::Value *present = nullptr);
  bool directQueues() const;  ///< through the consumer's own memory, not through global memory
  int64_t turnsAhead() const; ///< that one stage of a loop may be before the other
  bool isRead(const Popped &slot, Operation *op), outlivesSlot(Value result, Value slot);

  mlir::func::FuncOp function_;
  CoreKind core_;
  const CoreAssignment &cores_;
  const Machine &machine_;
  const LowerOptions &options_;
  const Report &report_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars_, pointers_;
  llvm::DenseMap<mlir::Value, Tile> tiles_;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> lengths_;
  llvm::DenseMap<mlir::StringAttr, int64_t> capacities_;
  llvm::DenseSet<int64_t> wideRows_; ///< lengths of rows that take whole blocks of bytes
  ir::SharedBuffers sharing_;        ///< which values lie in which buffer, by its root
  llvm::DenseMap<mlir::Value, mlir::Value> wanted_; ///< a value that is best made in this buffer
  llvm::DenseMap<mlir::Value, mlir::Value> queues_;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> pointerNames_;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> globalLengths_;
  llvm::DenseMap<mlir::Value, mlir::Value> dealtLengths_, dealtPresent_;
  llvm::SmallVector<Waiting> waiting_;
  llvm::SmallVector<Popped> popped_;
  mlir::Value workspace_, subblock_, isFirst_; ///< isFirst_: an i1, of the vector cores of a group
  int64_t meetingEvents_[2]{};                 ///< to the cube core, and from it
  int64_t workspaceBytes_ = 0;
  llvm::DenseSet<mlir::Value> cubeScalars_; ///< of a mixed kernel: what the cube core computes
  bool mergesQueues_ = false;               ///< values of any form share a queue
  mlir::StringAttr peer_;
  /// Slots of values that a stage of a loop makes for a later one, before what they stand.
  llvm::DenseMap<mlir::Value, mlir::Value> keptSlots_;
  mlir::Operation *keptBefore_ = nullptr;
  int64_t keptCount_ = 2;
  mlir::Operation *gridLoop_ = nullptr; ///< what does not depend on the point stands before it
  llvm::SmallVector<Rotation> rotations_;
  llvm::DenseSet<mlir::Value> streamed_; ///< operands of products that are loaded piece by piece
  PartOf part_;                          ///< of the product that is lowered
  int64_t pinnedStep_ = 0;               ///< of that product, by its schedule; 0: it says nothing
  size_t productRotations_ = 0;          ///< rotations around that product
  int64_t productBuffers_ = 0;           ///< that it has made
  /// Buffers that the parts of a product use in turn, by group, which of its buffers, and turn.
  llvm::DenseMap<std::tuple<int64_t, int64_t, int64_t>, mlir::Value> partBuffers_;
  bool dynamicValid_ = false, failed_ = false;
};

} // namespace ptl::block
