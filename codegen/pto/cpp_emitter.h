// Implements `emitCpp`.
#pragma once

#include "codegen/pto/cpp_types.h"
#include "codegen/pto/emit_cpp.h"
#include "codegen/pto/names.h"
#include "codegen/pto/windows.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"

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

/// Helpers that functions of the file use.
struct CppHelpers {
  llvm::StringSet<> used; ///< `smaller`, `larger`, `ceilDiv`, `floorDiv`, `coreEvents`
};

/// Adds the definitions of the helpers; `before` each, `AICORE ` for code of the device.
void addCppHelpers(TextLines &text, const CppHelpers &helpers, const std::string &before);

/// Adds the functions by which the cores of a group signal each other and wait, for devices and for
/// CPU simulation.
void addCoreEvents(TextLines &text, const Machine &machine);

class CppFunctionEmitter {
public:
  virtual ~CppFunctionEmitter() = default;
  CppFunctionEmitter(mlir::func::FuncOp function, const Machine &machine, CppTypes &types,
                     CppHelpers &helpers, std::vector<Finding> &findings)
      : function_(function), machine_(machine), types_(types), helpers_(helpers),
        findings_(findings) {
    names_.keepForTiles(function);
  }

  /// The statements of the body.
  TextLines emitBody();
  /// `__gm__ float *x, int64_t n`
  std::string parameters();
  std::string parameterName(unsigned index) { return names_.of(function_.getArgument(index)); }

protected:
  /// Emits statements and expressions that only some functions have; false, or nothing, if the
  /// operation is none of these.
  virtual bool emitOther(mlir::Operation *) { return false; }
  virtual std::optional<CppExpression> otherExpression(mlir::Operation *) { return std::nullopt; }
  /// Called after the statements of an operation.
  virtual void leave(mlir::Operation *) {}

  // Expressions: cpp_expressions.cpp
  CppExpression expression(mlir::Value value);
  CppExpression operationExpression(mlir::Operation *op);
  CppExpression binaryExpression(mlir::Operation *op, const struct CppScalarRow &row);
  CppExpression comparison(mlir::Operation *op, llvm::StringRef sign, bool isUnsigned);
  CppExpression formExpression(mlir::Operation *op, const struct CppScalarRow &row);
  CppExpression constantExpression(mlir::TypedAttr value);
  std::string text(mlir::Value value) { return expression(value).text; }
  bool isInlined(mlir::Operation *op) const;

  // Statements: emit_cpp_function.cpp
  void emitBlock(mlir::Block &block);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitWhile(mlir::scf::WhileOp loop);
  void assign(mlir::Operation *op, mlir::ValueRange targets, mlir::ValueRange values);
  void emitScalar(mlir::Operation *op);
  void line(mlir::Operation *op, const std::string &text);
  void open(mlir::Operation *op, const std::string &text);
  void close(mlir::Operation *op);
  void missing(mlir::Operation *op, const std::string &what);

  // Tiles, views, queues: emit_cpp_tiles.cpp
  bool emitBuffer(mlir::Operation *op);
  bool emitView(mlir::Operation *op);
  bool emitQueue(mlir::Operation *op);
  bool emitOrder(mlir::Operation *op);
  void emitInstructionOp(Instruction instruction);
  bool emitReduction(Instruction reduction);
  void declareTile(mlir::Operation *op, TileBufType type, mlir::Value rows, mlir::Value cols);
  void emitTileAt(mlir::Operation *op, const CppExpression &address, TileBufType type,
                  mlir::Value rows, mlir::Value cols);
  void emitWindow(SubsetOp op);
  void emitPart(PartitionViewOp op);
  void emitPipe(mlir::Operation *op, mlir::Value memory, mlir::Value local);
  std::string fill(Instruction instruction, llvm::StringRef form);
  std::string operandType(mlir::Value value);

  mlir::func::FuncOp function_;
  const Machine &machine_;
  CppTypes &types_;
  CppHelpers &helpers_;
  std::vector<Finding> &findings_;
  NameTable names_{NameTable::Style::Cpp};
  TextLines body_;
  llvm::DenseMap<mlir::Value, CppExpression> addresses_;
  llvm::DenseMap<mlir::Value, std::string> valueTypes_; ///< C++ types of tiles, views and queues
};

} // namespace ptl::pto
