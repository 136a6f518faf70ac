// Names values in emitted text: by their names in the source where they have them.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace ptl::pto {

/// The reason for a synchronisation (`ptl.why`); empty if the operation before it has the same
/// reason.
std::string reasonOf(mlir::Operation *op);

/// The name of a function in texts that are C++ or become C++: its symbol, with an addition where
/// C++ or the C library has this name.
std::string functionName(llvm::StringRef symbol);

/// Names of one function; each is given once.
class NameTable {
public:
  /// `style`: whether names may contain `$` and `.` (`.pto`) or are identifiers of C++.
  enum class Style { Pto, Cpp };
  explicit NameTable(Style style) : style_(style) {}

  /// Reserves the names of tiles and arrays of a function for these, because the location of a
  /// number beside a tile has the tile's name, too.
  void keepForTiles(mlir::Operation *function);

  /// The name of a value, which is chosen at the first call.
  const std::string &of(mlir::Value value);
  bool has(mlir::Value value) const { return names_.contains(value); }
  void set(mlir::Value value, std::string name) { names_[value] = std::move(name); }
  /// A name like `wanted` that is not used yet.
  std::string fresh(llvm::StringRef wanted);

private:
  Style style_;
  llvm::DenseMap<mlir::Value, std::string> names_;
  llvm::StringSet<> taken_, tileNames_;
  llvm::StringMap<unsigned> counts_;
};

} // namespace ptl::pto
