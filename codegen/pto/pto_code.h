// The `.pto` text of one function while it is written. The functions that print operations take it
// as their first argument and keep no state of their own.
#pragma once

#include "codegen/pto/names.h"
#include "codegen/pto/pto_constants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ptl::pto {

/// The byte address of a tile: a value that is computed, and a constant.
struct TileAddress {
  std::string computed; ///< an i64 value; empty: none
  int64_t constant = 0;
};

class PtoCode {
public:
  /// What is given by reference outlives the text.
  PtoCode(mlir::func::FuncOp function, const Machine &machine, PtoasVersion version,
          const TypeAliases &types, std::vector<Finding> &findings);
  PtoCode(const PtoCode &) = delete;
  PtoCode &operator=(const PtoCode &) = delete;

  mlir::func::FuncOp function() const { return function_; }
  const Machine &machine() const { return machine_; }
  /// Whether the version of PTOAS that reads the text has the change for this chip.
  bool has(PtoasChange change) const { return hasChanged(version_, machine_.tools.ptoas, change); }

  // ---- Names and types -------------------------------------------------------------------------

  /// `%x`; for a constant the name of one at the head of the function, where it is then defined.
  std::string name(mlir::Value value);
  /// The names, with commas between.
  std::string names(mlir::ValueRange values);
  /// The types, with commas between.
  std::string typed(mlir::ValueRange values);
  /// `%x = `, for the first result.
  std::string result(mlir::Operation *op) { return name(op->getResult(0)) + " = "; }
  /// The name of a value without the `%`, for names that are made of it.
  const std::string &plainName(mlir::Value value) { return names_.of(value); }
  /// A name with `%` that nothing has yet, like `wanted`.
  std::string fresh(llvm::StringRef wanted) { return "%" + names_.fresh(wanted); }
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
  /// Notes that an operation cannot be expressed.
  void missing(mlir::Operation *op, const std::string &what);

  // ---- Tiles -----------------------------------------------------------------------------------

  /// Where a tile begins; null where a pop decides, which only PTOAS knows.
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
  std::pair<std::string, std::string> file_; ///< of the last line, and as it is quoted
  llvm::DenseMap<mlir::Value, TileAddress> addresses_;
  llvm::DenseMap<mlir::Value, mlir::Type> tileTypes_; ///< where they differ from the IR
};

} // namespace ptl::pto
