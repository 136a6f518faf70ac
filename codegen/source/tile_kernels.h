// Grids of a program as kernels of their own.
#pragma once

#include "codegen/source/body_code.h"
#include "codegen/source/tile_source.h"
#include "ir/dialect/ptl_dialect.h"

#include "llvm/ADT/SetVector.h"

namespace ptl::source {

/// A kernel made of grids, and how to call it.
struct OutlinedKernel {
  struct Argument {
    mlir::Value value;
    std::string name, type;
    bool isInout = false;
  };
  std::string doc; ///< lines without `///`
  std::vector<Argument> arguments;
  std::vector<std::pair<mlir::Value, std::string>> outputs; ///< storage and type
  std::vector<std::string> outputNames;
  std::vector<std::string> dims, namedDims; ///< all, and those that no argument binds
  std::vector<std::string> wheres;
  std::string body;
  std::string word = "kernel"; ///< that it begins with
  std::string clause;          ///< behind the results: `on core for cpu`; empty: none

  std::string text(const std::string &name) const;
  /// Equal for kernels that differ in the names of their parameters and results alone.
  std::string key() const;
};

/// The body of a kernel that is made of grids: values from outside become parameters.
class KernelBody : public BodyKind {
public:
  using NameOf = std::function<std::string(mlir::Value)>;
  using IsOutput = std::function<bool(mlir::Value)>;
  KernelBody(llvm::ArrayRef<ir::ParallelOp> grids, const EntryFacts &facts,
             const std::vector<std::string> &dims, const std::set<std::string> &inTypes,
             NameOf nameOf, IsOutput isOutput, Unwritable unwritable)
      : code_(*this, ArrayUse::Indexed, std::move(unwritable)), grids_(grids), facts_(facts),
        dims_(dims), inTypes_(inTypes), nameOf_(std::move(nameOf)), isOutput_(std::move(isOutput)) {
  }
  OutlinedKernel print();

private:
  std::optional<Expression> foreign(mlir::Value value) override;
  std::string *prologueFor(mlir::Operation *op) override;
  bool readsChanged(mlir::Operation *op) override;
  std::string placeOf(mlir::Value tile) const override {
    return facts_.placeOf ? facts_.placeOf(tile) : "";
  }
  bool keepsOrder() const override { return facts_.placeOf != nullptr; }
  bool isInside(mlir::Operation *op) const;
  bool isSameForAll(mlir::Operation *op) const;
  void reserveLengths(ir::ParallelOp grid);
  void run();
  std::set<std::string> namesInTypes(const OutlinedKernel &kernel) const;
  void findDims(OutlinedKernel &kernel);
  void repeatRequirements(OutlinedKernel &kernel);
  void repeatBranches(OutlinedKernel &kernel);
  void requireOfPositions(OutlinedKernel &kernel);
  void findBounds(OutlinedKernel &kernel);

  BodyCode code_;
  llvm::ArrayRef<ir::ParallelOp> grids_;
  const EntryFacts &facts_;
  const std::vector<std::string> &dims_;
  const std::set<std::string> &inTypes_; ///< names that types of the entry speak of
  std::set<std::string> lengths_;        ///< those that the entry computes and the body speaks of
  NameOf nameOf_;
  IsOutput isOutput_;
  std::vector<OutlinedKernel::Argument> arguments_;
  std::vector<std::pair<mlir::Value, std::string>> outputs_;
  std::string prologue_;
};

/// Arrays whose values must differ for the points of a grid to write different elements: a kernel
/// says so of its parameters. `isUniqueOfGrid`: whether a check is about one of these, which calls
/// of the kernel make again.
llvm::SetVector<mlir::Value> uniqueArrays(ir::ParallelOp grid);
bool isUniqueOfGrid(ir::CheckOp check);

/// What a kernel says of positions that the program computes, `last <= N`: without it the kernel
/// would check what it indexes from them on. Empty if the grid did check that.
std::vector<std::string> boundsOf(ir::ParallelOp grid, const std::set<std::string> &inTypes);
/// The same of arrays of positions that a grid indexes by: `all(ids >= 0)`, `all(ids < N)`.
std::vector<std::string> factsOfIndices(ir::ParallelOp grid,
                                        llvm::function_ref<std::string(mlir::Value)> nameOf);
/// Whether a check is what a kernel requires of positions, so that it writes what it should;
/// whether it is one of these.
bool isBoundOfPosition(ir::CheckOp check);
bool isBoundOfGrid(ir::CheckOp check);

/// Whether an operation, or one inside of it, writes storage.
bool writes(mlir::Operation *op, mlir::Value ref);
/// The storage that the grids of a kernel write and of which a value from outside is what it holds
/// before: the kernel reads it there, because a call cannot both change an array and take it once
/// more. Null: there is none, or what is read there would be what was written.
mlir::Value storageRead(mlir::Value value, llvm::ArrayRef<ir::ParallelOp> grids);

/// Storage that the grids write.
llvm::SmallVector<mlir::Value> storedRefs(ir::ParallelOp grid);

/// Calls `look` with what a grid reads or writes a box of, and the array.
template <typename LookT> void forEachBox(ir::ParallelOp grid, LookT look) {
  grid->walk([&](mlir::Operation *op) {
    if (auto load = mlir::dyn_cast<ir::LoadOp>(op))
      look(load, load.getRef());
    else if (auto slice = mlir::dyn_cast<ir::SliceOp>(op))
      look(slice, slice.getSource());
    else if (auto store = mlir::dyn_cast<ir::StoreOp>(op))
      look(store, store.getRef());
  });
}

} // namespace ptl::source
