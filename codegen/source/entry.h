// Entries: their headers, and programs that call kernels.
#pragma once

#include "codegen/source/tile_kernels.h"
#include "ir/dialect/attributes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ptl::source {

/// The header of an entry, shared by both kinds.
class Entry {
public:
  Entry(mlir::func::FuncOp function, const EntryFacts &facts) : function(function), facts(facts) {
    for (mlir::BlockArgument argument : function.getArguments())
      if (std::string dim = attribute(argument, attrs::dim);
          !dim.empty() && !facts.statics.count(dim))
        dims.push_back(dim);
  }
  /// Collects the names that types refer to. To be called when no more operations are removed.
  void findNamesInTypes() {
    function.walk([&](mlir::Operation *op) {
      for (mlir::Value value : op->getResults())
        for (const ir::Extent &extent : ir::extentsOf(value.getType()))
          if (extent.symbol)
            inTypes.merge(identifiersOf(extent.symbol.getValue()));
    });
  }

  std::string attribute(mlir::BlockArgument argument, llvm::StringRef name) {
    auto text = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), name);
    return text ? text.str() : "";
  }
  std::string header(const char *kind, const std::function<std::string(mlir::Type)> &typeText,
                     const std::map<std::string, std::string> &initial);
  /// Whether a check is printed as a requirement in the header.
  bool isRequirement(mlir::Operation *op) {
    auto check = mlir::dyn_cast<ir::CheckOp>(op);
    if (!check || check.getStatus() != "where" || op->getParentOp() != function)
      return false;
    // A kernel that is called may have the same requirement as the entry.
    return check.getMessage().starts_with("`" + facts.name + "` needs `") ||
           llvm::any_of(facts.wheresAsWritten, [&](const std::string &condition) {
             return check.getMessage().contains("needs `" + condition + "`");
           });
  }

  mlir::func::FuncOp function;
  const EntryFacts &facts;
  std::vector<std::string> dims;
  std::set<std::string> inTypes; ///< names that types refer to
};

/// The name by which types refer to a length that the entry computes; empty if they do not.
std::string lengthNameOf(mlir::Value value, const std::set<std::string> &inTypes);

/// A kernel of the block level as a host calls it. Its `body` is empty if it cannot be expressed.
using KernelOfLaunch = std::function<OutlinedKernel(ir::LaunchOp)>;

/// A program, or the host code of a chip: grids become kernels, launches call them.
class ProgramEntry : public BodyKind {
public:
  ProgramEntry(Entry &entry, Unwritable unwritable, KernelOfLaunch kernelOfLaunch = {})
      : entry_(entry), code_(*this, ArrayUse::Whole, std::move(unwritable)),
        kernelOfLaunch_(std::move(kernelOfLaunch)) {}

  /// The kernels that the program calls, then the program.
  std::string print();

private:
  void run();
  bool special(mlir::Operation *op) override;
  bool readsFinal(mlir::Operation *op) override;
  std::optional<bool> isInlined(mlir::Operation *op) override;
  std::string lengthName(mlir::Value value) const override {
    return lengthNameOf(value, entry_.inTypes);
  }
  void launch(ir::ParallelOp first);
  void launch(ir::LaunchOp launch);
  void callAs(const OutlinedKernel &kernel, const std::string &wanted, mlir::Operation *at);
  void call(const OutlinedKernel &kernel, const std::string &name, mlir::Operation *at);
  void allocate(ir::AllocOp alloc);
  bool isWrittenInParts(mlir::BlockArgument output);
  void beginAsZeros(mlir::BlockArgument output, mlir::Operation *at);
  void beginOutputs(mlir::Operation *loop);
  bool beginsInside(ir::AllocOp alloc);
  bool keepsOrder() const override { return entry_.facts.placeOf != nullptr; }
  bool store(ir::StoreOp store);
  mlir::scf::IfOp choiceFor(ir::AllocOp alloc);
  bool areOneGroup(llvm::ArrayRef<mlir::Operation *> grids);
  bool fillsInArms(mlir::scf::IfOp branch, mlir::Value ref,
                   llvm::ArrayRef<mlir::Operation *> writers);
  void noteChoices(mlir::scf::IfOp outermost, ir::AllocOp alloc);
  bool fills(mlir::Operation *writer, mlir::Value ref);
  void choose(mlir::scf::IfOp branch, llvm::ArrayRef<mlir::Value> refs);
  std::string refName(mlir::Value ref);
  std::string argumentName(mlir::Value value);
  /// Whether storage has defined contents when an operation begins.
  bool isWritten(mlir::Value ref, mlir::Operation *at) const;
  void noteWritten(mlir::Value ref, mlir::Operation *writer) { written_[ref].push_back(writer); }
  bool isOutput(mlir::Value ref, llvm::ArrayRef<ir::ParallelOp> grids);
  std::vector<ir::ParallelOp> groupFrom(ir::ParallelOp first);
  const OutlinedKernel &outlined(ir::LaunchOp launch) const;
  llvm::SmallVector<mlir::Value> writtenBy(ir::LaunchOp launch) const;
  llvm::SmallVector<mlir::Operation *> writersOf(mlir::Value ref) const;

  Entry &entry_;
  BodyCode code_;
  KernelOfLaunch kernelOfLaunch_;
  mutable llvm::DenseMap<mlir::Operation *, OutlinedKernel> outlined_; ///< of launches
  std::string kernels_;
  std::map<std::string, std::string> kernelNames_; ///< by key
  Names kernelNamesUsed_;
  /// The operations that have written storage so far; null stands for contents from the start.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 2>> written_;
  /// Branches that are printed as values, with the storage that holds these.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>> choices_;
  llvm::DenseSet<mlir::Operation *> launched_;
};

} // namespace ptl::source
