// Grids of a program as kernels of their own.
#pragma once

#include "codegen/source/body_code.h"
#include "codegen/source/tile_source.h"
#include "ir/dialect/ptl_dialect.h"

#include "llvm/ADT/SetVector.h"

namespace ptl::source {

/// A kernel made from grids, and how to call it.
struct OutlinedKernel {
  struct Argument {
    mlir::Value value;
    std::string name, type;
    bool isInout = false;
    std::string fallback = {}; ///< ` = 0.1` where the parameter has a default
  };
  std::string doc; ///< lines without the prefix `///`
  std::vector<Argument> arguments;
  std::vector<std::pair<mlir::Value, std::string>> outputs; ///< storage and type
  std::vector<std::string> outputNames;
  std::vector<std::string> dims, namedDims; ///< all, and those that no argument binds
  std::vector<std::string> wheres;
  std::string body;
  std::string word = "kernel"; ///< its first keyword
  std::string clause;          ///< printed after the results: `on core for cpu`; empty: none

  std::string text(const std::string &name) const;
  /// Equal for kernels that differ only in the names of their parameters and results.
  std::string key() const;
};

/// The body of a kernel made from grids: values from outside become parameters.
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
  const std::set<std::string> &inTypes_; ///< names that types of the entry refer to
  std::set<std::string> lengths_;        ///< lengths that the entry computes and the body refers to
  NameOf nameOf_;
  IsOutput isOutput_;
  std::vector<OutlinedKernel::Argument> arguments_;
  std::vector<std::pair<mlir::Value, std::string>> outputs_;
  std::string prologue_;
};

/// Arrays whose elements must be distinct for the points of a grid to write different elements: a
/// kernel states that about its parameters. `isUniqueOfGrid` says whether a check is about one of
/// these; calls of the kernel generate such checks again.
llvm::SetVector<mlir::Value> uniqueArrays(ir::ParallelOp grid);
bool isUniqueOfGrid(ir::CheckOp check);

/// Whether a store of a program through an array of positions has to be preceded by `assert(unique(…))` in the text, because a launch has computed
/// the positions and no check states it.
bool mustStateUnique(mlir::Operation *store, mlir::Value index);

/// What a kernel requires of positions that the program computes, such as `last <= N`; without it
/// the kernel would check its accesses from these positions on. Empty if the grid itself had that
/// check.
std::vector<std::string> boundsOf(ir::ParallelOp grid, const std::set<std::string> &inTypes);
/// The same for arrays of positions by which a grid indexes: `all(ids >= 0)`, `all(ids < N)`.
std::vector<std::string> factsOfIndices(ir::ParallelOp grid,
                                        llvm::function_ref<std::string(mlir::Value)> nameOf);
/// Whether a check is about positions, so that a kernel requires it; whether it is one that
/// `boundsOf` gives.
bool isBoundOfPosition(ir::CheckOp check);
bool isBoundOfGrid(ir::CheckOp check);
/// Whether a check in a grid is about the positions that these requirements speak of; others say
/// nothing about whether a kernel needs them.
bool isAboutPositions(ir::CheckOp check, ir::ParallelOp grid);

/// Whether an operation, or one nested in it, writes the storage.
bool writes(mlir::Operation *op, mlir::Value ref);
/// The storage that the grids of a kernel write and whose previous contents are the outside value:
/// the kernel reads these contents there, because a call cannot both modify an array and take it as
/// another argument. Null if there is none, or if the kernel would read what it has written.
mlir::Value storageRead(mlir::Value value, llvm::ArrayRef<ir::ParallelOp> grids);

/// The storage that the grids write.
llvm::SmallVector<mlir::Value> storedRefs(ir::ParallelOp grid);

/// Calls `look` for each box that a grid reads or writes, with the array.
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

/// A dimension that no argument of a kernel binds, as the caller says it: by the length with which it
/// makes storage for a result, which may have another name here, or none; else by its name.
std::string lengthText(BodyCode &code, const OutlinedKernel &kernel, const std::string &dim);

/// Makes outputs that an earlier kernel has written `inout`.
void keepWritten(OutlinedKernel &kernel, llvm::function_ref<bool(mlir::Value)> isWritten);

} // namespace ptl::source
