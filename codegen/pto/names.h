// Names of values in emitted text: their names in the source where they have one.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace ptl::pto {

/// The reason for a synchronisation (`ptl.why`); empty if the operation before it has the same
/// reason.
std::string reasonOf(mlir::Operation *op);

/// A text of the author's for a comment, which it neither ends nor goes beyond.
std::string commentText(llvm::StringRef text);

/// The name of a function in texts that are C++ or become C++: its symbol, with a suffix if that is
/// a name of C++ or of the C library.
std::string functionName(llvm::StringRef symbol);

/// The names of one function; each is unique.
class NameTable {
public:
  /// `style`: whether names may contain `$` and `.` (`.pto`) or are identifiers of C++.
  enum class Style { Pto, Cpp };
  explicit NameTable(Style style) : style_(style) {}

  /// Reserves the names of a function's tiles and arrays for them, because a number that belongs to
  /// a tile has the tile's name in its location, too.
  void keepForTiles(mlir::Operation *function);

  /// The name of a value; it is chosen at the first call.
  const std::string &of(mlir::Value value);
  bool has(mlir::Value value) const { return names_.contains(value); }
  void set(mlir::Value value, std::string name) { names_[value] = std::move(name); }
  /// An unused name that resembles `wanted`.
  std::string fresh(llvm::StringRef wanted);

private:
  Style style_;
  llvm::DenseMap<mlir::Value, std::string> names_;
  llvm::StringSet<> taken_, tileNames_;
  llvm::StringMap<unsigned> counts_;
};

} // namespace ptl::pto
