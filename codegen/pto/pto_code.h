// The `.pto` text of one function while it is being written. The functions that print operations
// take it as their first argument and keep no state of their own.
#pragma once

#include "codegen/pto/names.h"
#include "codegen/pto/pto_constants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::pto {

/// The byte address of a tile: the sum of a computed value and a constant.
struct TileAddress {
  std::string computed; ///< an i64 value; empty if there is none
  int64_t constant = 0;
};

class PtoCode {
public:
  /// The arguments that are passed by reference must outlive the text.
  PtoCode(mlir::func::FuncOp function, const Machine &machine, PtoasVersion version,
          const TypeAliases &types, std::vector<Finding> &findings);
  PtoCode(const PtoCode &) = delete;
  PtoCode &operator=(const PtoCode &) = delete;

  mlir::func::FuncOp function() const { return function_; }
  const Machine &machine() const { return machine_; }
  /// Whether the version of PTOAS that reads the text has the change for this chip.
  bool has(PtoasChange change) const { return hasChanged(version_, machine_.tools.ptoas, change); }

  // ---- Names and types -------------------------------------------------------------------------

  /// `%x`; for a constant the name of its definition at the head of the function.
  std::string name(mlir::Value value);
  /// The names, separated by commas.
  std::string names(mlir::ValueRange values);
  /// The types, separated by commas.
  std::string typed(mlir::ValueRange values);
  /// `%x = `, for the first result.
  std::string result(mlir::Operation *op) { return name(op->getResult(0)) + " = "; }
  /// The name of a value without the `%`, to derive other names from.
  const std::string &plainName(mlir::Value value) { return names_.of(value); }
  /// An unused name with `%` that resembles `wanted`.
  std::string fresh(llvm::StringRef wanted) { return "%" + names_.fresh(wanted); }
  /// From now on the first value is called as the second.
  void nameAlike(mlir::Value value, mlir::Value other) {
    names_.set(value, std::string(names_.of(other)));
  }
  bool isNamedAlike(mlir::Value value, mlir::Value other) {
    return names_.has(value) && names_.of(value) == names_.of(other);
  }
  std::string typeText(mlir::Type type) const { return types_.of(type); }
  /// The type that a value has in the text.
  std::string typeOf(mlir::Value value) const;
  /// The operation's name in PTOAS: `pto.load`.
  std::string spelled(mlir::Operation *op) const;

  // ---- Constants -------------------------------------------------------------------------------

  /// The name of a constant at the head of the function, with `%`.
  std::string constant(mlir::TypedAttr value) { return constants_.of(value); }
  std::string indexConstant(int64_t value) { return constants_.ofIndex(value); }
  std::string longConstant(int64_t value) { return constants_.ofLong(value); }
  /// Adds the lines that define them.
  void addConstants(TextLines &text) const { constants_.addTo(text); }

  // ---- Lines -----------------------------------------------------------------------------------

  TextLines &body() { return body_; }
  /// Adds a line with the location of the operation, as MLIR writes it.
  void line(mlir::Operation *op, const std::string &text);
  /// Records an error: the operation cannot be expressed.
  void missing(mlir::Operation *op, const std::string &what);

  // ---- Tiles -----------------------------------------------------------------------------------

  /// The address of a tile; null if a pop determines it, which only PTOAS knows.
  const TileAddress *addressOf(mlir::Value tile) const;
  void setAddress(mlir::Value tile, const TileAddress &address) { addresses_[tile] = address; }
  /// The type that a tile has in the text, which may differ from that in the IR.
  TileBufType tileTypeOf(mlir::Value tile) const;
  void setTileType(mlir::Value tile, TileBufType type) { tileTypes_[tile] = type; }

private:
  mlir::func::FuncOp function_;
  const Machine &machine_;
  PtoasVersion version_;
  const TypeAliases &types_;
  std::vector<Finding> &findings_;
  NameTable names_{NameTable::Style::Pto};
  PtoConstants constants_;
  TextLines body_;
  std::pair<std::string, std::string> file_; ///< of the last line, and its quoted form
  llvm::DenseMap<mlir::Value, TileAddress> addresses_;
  llvm::DenseMap<mlir::Value, mlir::Type> tileTypes_; ///< where they differ from the IR
};

} // namespace ptl::pto
