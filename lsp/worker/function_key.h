// Cache keys of functions' code.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/xxhash.h"

#include <string>
#include <vector>

namespace ptl::worker {

/// A digest of a function's contents: its operations and the constants that it reads. It does not
/// depend on the source locations themselves, but on which operations share one.
struct FunctionKey {
  std::string name;
  llvm::XXH128_hash_t digest{};
  /// The numbers of the locations of operations, counted from 1 in the order of the function; 0 is
  /// none.
  llvm::DenseMap<mlir::Location, unsigned> numbers;
  std::vector<mlir::Location> locations; ///< of number `i + 1`
};

/// Makes the keys of the functions of one module.
class FunctionKeys {
public:
  explicit FunctionKeys(mlir::ModuleOp module) : symbols_(module) {}
  /// `context` describes everything else that the code depends on.
  FunctionKey of(mlir::func::FuncOp function, const std::string &context);

private:
  class Writer;
  template <typename Printed> const std::string &textOf(Printed printed);

  mlir::SymbolTable symbols_;
  llvm::DenseMap<const void *, std::string> texts_; ///< of types and attributes
};

} // namespace ptl::worker
