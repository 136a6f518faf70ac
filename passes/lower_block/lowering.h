// The lowering of one kernel for one kind of core. A mixed kernel is lowered twice, once per kind:
// each side makes the instructions that are its own, and where a value crosses, one side pushes and
// the other pops at the same place of the program, so that both agree on the order.
#pragma once

#include "ir/dialect/instruction_op.h"
#include "passes/lower_block/assign_cores.h"
#include "passes/lower_block/lower_block.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace ptl::block {

/// A logical matrix: capacities, and lengths as `index` values.
struct Extents2 {
  int64_t rows = 1, cols = 1;
  mlir::Value validRows, validCols;
};

/// A box of an array in global memory: rows and columns of a matrix with unit column stride, at
/// most.
struct MemoryBox {
  mlir::Value pointer; ///< to element 0 of the array
  mlir::Value base;    ///< elements before the matrix that the box is cut from; null: none
  mlir::Value matrixRows, matrixCols; ///< extents of that matrix
  mlir::Value rowStride;              ///< elements
  mlir::Value row, col;               ///< where the box begins
  mlir::Value present;                ///< an i1 that is false where the box is empty; null: never
};

/// What an array value of the tile level became.
struct Tile {
  enum class Form {
    Whole,  ///< rows x cols in `vec`, row-major
    Column, ///< one value per row, stored one behind the other
    Mask,   ///< packed bits of a comparison
    Splat,  ///< one scalar everywhere
    Memory, ///< still in global memory
    Matrix, ///< staged in `mat` for the cube
    Acc,    ///< in the accumulator
  };
  Form form = Form::Whole;
  Extents2 extents;
  mlir::Type element;
  mlir::Value buffer;
  mlir::Value scalar;
  MemoryBox box;
  bool transposed = false; ///< Memory, Matrix: stands for the transposed box
  bool isRow() const { return extents.rows == 1; }
};

/// A loop whose iterations overlap: buffers of its body rotate.
struct Rotation {
  mlir::Operation *loop = nullptr; ///< buffers are made before it
  mlir::Value slot;                ///< number of the iteration
  int64_t count = 1;
};

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
  void lowerBlock(mlir::Block &block);
  void lowerOp(mlir::Operation *op);
  void lowerNestedGrid(ir::ParallelOp grid);
  void lowerFor(mlir::scf::ForOp loop);
  void lowerIf(mlir::scf::IfOp branch);
  bool carries(mlir::Value value) const;
  Tile carriedTile(mlir::scf::ForOp loop, unsigned index);
  void keep(mlir::Value value, const Tile &into, mlir::Location loc);
  mlir::Value iterationOf(mlir::scf::ForOp loop);
  bool lowerScalarOp(mlir::Operation *op);
  mlir::Value lowerScalarArithmetic(mlir::Operation *op);

  // values: tiles.cpp
  void fail(mlir::Operation *op, const std::string &what);
  mlir::Value scalarOf(mlir::Value value);
  bool isScalar(mlir::Value value) const;
  const Tile *tileOf(mlir::Value value);
  void setTile(mlir::Value value, Tile tile);
  std::optional<Extents2> extentsOf(mlir::Operation *op, mlir::Type type);
  int64_t capacityOf(const ir::Extent &extent) const;
  mlir::Value lengthOf(const ir::Extent &extent);
  mlir::Value constant(int64_t value);
  mlir::Value constantOf(mlir::Type type, double value);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Location named(mlir::Value value) const;

  // buffers: buffers.cpp
  mlir::Value allocate(ir::Place place, llvm::StringRef layout, const Extents2 &extents,
                       mlir::Type element, mlir::Location loc, bool rotates = false);
  int64_t maskBytes(int64_t cols) const;
  mlir::Value allocateLike(const Tile &like, mlir::Location loc);
  std::pair<Extents2, mlir::Type> storage(const Tile &tile);
  pto::TileBufType allocateType(const Tile &like);
  mlir::Value destination(mlir::Operation *op, const Tile &like,
                          llvm::ArrayRef<mlir::Value> candidates);
  bool diesAt(mlir::Value value, mlir::Operation *op) const;
  bool diesBefore(mlir::Value value, mlir::Operation *op) const;
  mlir::Value reshape(mlir::Value buffer, pto::TileBufType type, mlir::Value rows,
                      mlir::Value cols);
  mlir::Value columnView(const Tile &column);
  mlir::Value asColumn(const Tile &single);
  mlir::Value fullView(mlir::Value buffer);
  Tile materialise(const Tile &tile, mlir::Location loc);
  Tile expand(const Tile &tile, const Extents2 &extents, mlir::Location loc);
  pto::TileBufType tileType(ir::Place place, llvm::StringRef layout, const Extents2 &extents,
                            mlir::Type element);
  mlir::Operation *emit(mlir::Location loc, InstructionId id, mlir::ValueRange ins,
                        mlir::ValueRange outs,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

  // global memory: lower_memory.cpp
  void lowerSlice(mlir::Operation *op);
  void lowerStore(ir::StoreOp store);
  llvm::SmallVector<mlir::Value> stridesOf(mlir::Value array);
  mlir::Value globalLength(mlir::Value array, size_t axis);
  mlir::Type storeBoxType(ir::StoreOp store);
  mlir::Value elementsBefore(mlir::ValueRange offsets, llvm::ArrayRef<mlir::Value> strides,
                             llvm::ArrayRef<size_t> matrix);
  std::optional<MemoryBox> boxOf(mlir::Operation *op, Extents2 &extents);
  mlir::Value partition(const MemoryBox &box, const Extents2 &extents, mlir::Type element,
                        mlir::Location loc, bool transposed = false, bool asRow = false);
  void whenPresent(const MemoryBox &box, mlir::Location loc, llvm::function_ref<void()> body);
  Tile load(const Tile &memory, mlir::Location loc);
  bool usedOnVector(mlir::Value value);
  void sliceTile(mlir::Operation *op, const Tile &source);

  // vector instructions: lower_elementwise.cpp
  bool lowerVector(mlir::Operation *op);
  std::optional<Tile> operandTile(mlir::Operation *op, mlir::Value operand);
  std::optional<Tile> resultTile(mlir::Operation *op);
  void scalarise(Tile &tile, const Tile &result);
  void lowerUnary(mlir::Operation *op, InstructionId id);
  void lowerBinary(mlir::Operation *op, const struct BinaryForms &forms);
  void lowerCompare(mlir::Operation *op, pto::CmpMode mode, pto::CmpMode swapped);
  void lowerSelect(mlir::Operation *op);
  void lowerConvert(mlir::Operation *op);
  void lowerReduction(mlir::Operation *op, InstructionId row, InstructionId column);
  void reduceAll(mlir::Operation *op, Tile source, InstructionId row);

  // what both sides may make for themselves: lower_shape.cpp
  bool lowerShared(mlir::Operation *op);
  void lowerSplat(mlir::Operation *op);
  void lowerIndex(mlir::Operation *op);
  void lowerView(mlir::Operation *op);
  void lowerTranspose(mlir::Operation *op);
  void lowerBroadcast(mlir::Operation *op);

  // products: lower_product.cpp
  void stage(mlir::Operation *slice, const Tile &memory);
  Tile loadMatrix(const Tile &memory, bool transposed, mlir::Location loc);
  void lowerCube(mlir::Operation *op);
  Tile accumulatorTile(mlir::scf::ForOp loop, mlir::Value argument);
  void lowerMatmul(mlir::Operation *op);
  void zeroIfEmpty(mlir::Value lower, mlir::Value upper, const Tile &out, mlir::Type operand);
  int64_t contractedStep(const Tile &a, int64_t rows, int64_t cols) const;
  void multiply(const Tile &a, const Tile &b, const Tile &out, mlir::Value first,
                mlir::Location loc);
  void multiplyStep(const Tile &a, const Tile &b, const Tile &out, mlir::Value begins,
                    mlir::Value at, mlir::Value length, int64_t step, mlir::Location loc);
  void multiplyFromMemory(const Tile &a, const Tile &b, const Tile &out, mlir::Value first,
                          mlir::Location loc, int64_t step);
  llvm::StringRef leftLayout() const;

  // crossings: queues.cpp
  void openQueues(ir::ParallelOp grid);
  void cross(mlir::Value value);
  void push(mlir::Value value, mlir::Value queue);
  void pop(mlir::Value value, mlir::Value queue, bool toVector);
  void freeSlots(mlir::Block &block);
  mlir::Value dealt(mlir::Value length, const ir::Extent &extent, mlir::Value *present = nullptr);
  /// Through the consumer's own memory, not through global memory.
  bool directQueues() const;

  /// A slot that is given back at the end of the block that popped it.
  struct Popped {
    mlir::Value queue;
    mlir::IntegerAttr split;
    mlir::Value value;
  };

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
  llvm::DenseMap<mlir::Value, unsigned> users_;     ///< tile values that hold a buffer
  llvm::DenseMap<mlir::Value, mlir::Value> held_;   ///< the value that a buffer got last
  llvm::DenseMap<mlir::Value, mlir::Value> wanted_; ///< a value that is best made in this buffer
  llvm::DenseMap<mlir::Value, mlir::Value> queues_;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> pointerNames_;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> globalLengths_;
  llvm::DenseMap<mlir::Value, mlir::Value> dealtLengths_, dealtPresent_;
  llvm::SmallVector<Popped> popped_;
  mlir::Value workspace_, subblock_;
  int64_t workspaceBytes_ = 0;
  mlir::StringAttr peer_;
  mlir::Operation *gridLoop_ = nullptr; ///< what does not depend on the point stands before it
  llvm::SmallVector<Rotation> rotations_;
  bool dynamicValid_ = false;
  bool failed_ = false;
};

/// Bytes of global memory that the queues of one core group need.
int64_t workspaceOf(const CoreAssignment &cores, ir::ParallelOp grid, const Machine &machine);
/// The bounds of lengths by name, as the types of a grid have them.
llvm::DenseMap<mlir::StringAttr, int64_t> capacitiesOf(ir::ParallelOp grid);
/// Bytes of a machine's memory that kernels may use.
int64_t usableBytes(const Machine &machine, llvm::StringRef place);

} // namespace ptl::block
