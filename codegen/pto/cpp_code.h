// The C++ text of one function while it is being written. The functions that print operations take
// it as their first argument and keep no state of their own.
#pragma once

#include "codegen/pto/cpp_helpers.h"
#include "codegen/pto/cpp_types.h"
#include "codegen/pto/names.h"
#include "machines/machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace ptl::pto {

/// How tightly an expression binds; smaller is tighter.
enum class Precedence : uint8_t {
  Primary,
  Unary,
  Product,
  Sum,
  Shift,
  Relation,
  Equality,
  BitAnd,
  BitXor,
  BitOr,
  Conditional
};

struct CppExpression {
  std::string text;
  Precedence precedence = Precedence::Primary;
  /// The text, in parentheses unless it binds at least as tightly as `outer`.
  std::string within(Precedence outer) const {
    return precedence <= outer ? text : "(" + text + ")";
  }
};

/// Prints operations that only functions of one kind contain.
class CppExtension {
public:
  virtual ~CppExtension() = default;
  /// Prints an operation as statements. Returns false, and prints nothing, for other operations.
  virtual bool emit(mlir::Operation *op) = 0;
  /// An operation as an expression; nothing for other operations.
  virtual std::optional<CppExpression> expression(mlir::Operation *op) = 0;
  /// Called after the statements of any operation have been printed.
  virtual void leave(mlir::Operation *op) = 0;
};

class CppCode {
public:
  /// The arguments that are passed by reference must outlive the text. `extension` may be null.
  CppCode(mlir::func::FuncOp function, const Machine &machine, CppTypes &types, CppHelpers &helpers,
          std::vector<Finding> &findings, CppExtension *extension = nullptr);
  CppCode(const CppCode &) = delete;
  CppCode &operator=(const CppCode &) = delete;

  mlir::func::FuncOp function() const { return function_; }
  const Machine &machine() const { return machine_; }
  CppExtension *extension() const { return extension_; }
  /// The aliases of the file.
  CppTypes &types() { return types_; }
  /// The names of the function's values.
  NameTable &names() { return names_; }
  /// Records that the text uses a helper (`CppHelpers`).
  void useHelper(llvm::StringRef helper) { helpers_.used.insert(helper); }

  // ---- Lines -----------------------------------------------------------------------------------

  TextLines &body() { return body_; }
  void line(mlir::Operation *op, const std::string &text) { body_.add(text, placeOf(op)); }
  /// Adds a line that opens a block, and indents the following lines until the block is closed.
  void open(mlir::Operation *op, const std::string &text);
  void close();
  /// Records an error: the operation cannot be expressed.
  void missing(mlir::Operation *op, const std::string &what);

  // ---- Tiles, views and queues -----------------------------------------------------------------

  /// The address of a tile; null if a queue determines it.
  const CppExpression *addressOf(mlir::Value tile) const;
  void setAddress(mlir::Value tile, CppExpression address) {
    addresses_[tile] = std::move(address);
  }
  /// The C++ type of an operand: the type of its variable, or of a scalar.
  std::string operandType(mlir::Value value) const;
  void setType(mlir::Value value, std::string type) { valueTypes_[value] = std::move(type); }

private:
  mlir::func::FuncOp function_;
  const Machine &machine_;
  CppTypes &types_;
  CppHelpers &helpers_;
  std::vector<Finding> &findings_;
  CppExtension *extension_;
  NameTable names_{NameTable::Style::Cpp};
  TextLines body_;
  llvm::DenseMap<mlir::Value, CppExpression> addresses_;
  llvm::DenseMap<mlir::Value, std::string> valueTypes_; ///< C++ types of tiles, views and queues
};

} // namespace ptl::pto
