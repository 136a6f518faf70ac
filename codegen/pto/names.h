// Names of values in emitted text: those of the source where values have them.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace ptl::pto {

/// Why a synchronisation is there (`ptl.why`); empty if the operation before it has the same
/// reason.
std::string reasonOf(mlir::Operation *op);

/// What a function is called in texts that are C++ or become it: its symbol, or more than that
/// where C++ or the library of C has this name.
std::string functionName(llvm::StringRef symbol);

/// Names of one function; each is given once.
class NameTable {
public:
  /// `style`: whether names may contain `$` and `.` (`.pto`) or are identifiers of C++.
  enum class Style { Pto, Cpp };
  explicit NameTable(Style style) : style_(style) {}

  /// Leaves the names of the tiles and arrays of a function to them: numbers beside one have its
  /// name in their location, too.
  void keepForTiles(mlir::Operation *function);

  /// The name of a value, made at the first call.
  const std::string &of(mlir::Value value);
  bool has(mlir::Value value) const { return names_.contains(value); }
  void set(mlir::Value value, std::string name) { names_[value] = std::move(name); }
  /// A name like `wanted` that nothing else has.
  std::string fresh(llvm::StringRef wanted);

private:
  Style style_;
  llvm::DenseMap<mlir::Value, std::string> names_;
  llvm::StringSet<> taken_, tileNames_;
  llvm::StringMap<unsigned> counts_;
};

} // namespace ptl::pto
