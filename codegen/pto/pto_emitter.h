// Implements `emitPto`.
#pragma once

#include "codegen/pto/emit_pto.h"
#include "codegen/pto/names.h"
#include "codegen/pto/windows.h"
#include "ir/dialect/instruction_op.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace ptl::pto {

/// Names for types, `!acc = …`; shared by the functions of a module.
class TypeAliases {
public:
  explicit TypeAliases(llvm::ArrayRef<mlir::ModuleOp> modules);
  /// The alias if there is one, else the type itself.
  std::string of(mlir::Type type) const;
  /// The definitions, in order of first use.
  std::vector<std::string> definitions() const;

private:
  std::string nameOf(TileBufType tile, bool onlyOfPlace) const;
  llvm::MapVector<mlir::Type, std::string> aliases_;
  /// Caches texts of types without an alias, because printing a type takes long.
  mutable llvm::DenseMap<mlir::Type, std::string> texts_;
};

/// The type without its sign, since scalars have none in PTOAS.
mlir::Type signless(mlir::Type type);

/// The byte address of a tile: a value that is computed, and a constant.
struct TileAddress {
  std::string computed; ///< an i64 value; empty: none
  int64_t constant = 0;
};

class PtoFunctionEmitter {
public:
  PtoFunctionEmitter(mlir::func::FuncOp function, const Machine &machine, PtoasVersion version,
                     const TypeAliases &types, std::vector<Finding> &findings)
      : function_(function), machine_(machine), version_(version), types_(types),
        findings_(findings) {
    names_.keepForTiles(function);
  }

  TextLines emit();

private:
  /// The name and the type of an operand, as they are written.
  struct Operand {
    std::string name, type;
  };
  // Functions, control flow, scalars: emit_pto.cpp
  std::string signature();
  void emitBlock(mlir::Block &block);
  void emitLabel(mlir::Block &block);
  std::string label(mlir::Block *block);
  std::string target(mlir::Block *block, mlir::ValueRange passed);
  void emitOp(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp loop);
  void emitIf(mlir::scf::IfOp branch);
  void emitWhile(mlir::scf::WhileOp loop);
  void emitYield(mlir::Operation *op);
  void emitScalar(mlir::Operation *op);
  void line(mlir::Operation *op, const std::string &text);
  void missing(mlir::Operation *op, const std::string &what);
  std::string name(mlir::Value value);
  std::string names(mlir::ValueRange values);
  std::string typed(mlir::ValueRange values);
  std::string result(mlir::Operation *op);
  std::string constant(mlir::TypedAttr value);
  std::string indexConstant(int64_t value);
  std::string longConstant(int64_t value);
  std::string constantOfBits(mlir::FloatAttr value, const std::string &wanted);
  bool has(PtoasChange change) const { return hasChanged(version_, machine_.tools.ptoas, change); }
  /// The operation's name in PTOAS: `pto.load`.
  std::string spelled(mlir::Operation *op) const;

  // Buffers, queues, instructions: emit_pto_tiles.cpp
  bool emitBuffer(mlir::Operation *op);
  bool emitView(mlir::Operation *op);
  bool emitQueue(mlir::Operation *op);
  void emitReservation(ReserveBufferOp made);
  void emitReservation(ImportReservedBufferOp made);
  bool emitOrder(mlir::Operation *op);
  void emitCrossing(mlir::Operation *op, const std::string &text, mlir::Value id);
  void emitCrossing(mlir::Operation *op, PipeKind pipe, mlir::Value id);
  bool needsFlagsBase();
  void emitTileAt(mlir::Operation *op, const TileAddress &address, TileBufType type,
                  mlir::Value rows, mlir::Value cols);
  void emitSlot(MultiTileGetOp op);
  void emitWindow(SubsetOp op);
  void emitAlias(mlir::Operation *op, mlir::Value source, mlir::Value rows, mlir::Value cols);
  /// The address of `tile` as a value, whose name is made from the tile's.
  std::string addressOf(mlir::Operation *op, const TileAddress &address, mlir::Value tile);
  std::string scaled(mlir::Operation *op, const std::string &value, int64_t by,
                     llvm::StringRef wanted);
  std::string typeOf(mlir::Value value);
  Operand withoutSign(mlir::Operation *op, mlir::Value tile);
  Operand asBits(mlir::Operation *op, mlir::Value tile, mlir::Type element);
  Operand asTile(mlir::Operation *op, mlir::Value tile, TileBufType type);

  // Instructions: emit_pto_instructions.cpp
  void emitInstructionOp(Instruction instruction);
  bool emitBits(Instruction fill);
  void emitNumbers(Instruction tci);
  void findScratch(Instruction instruction);
  std::vector<Operand> inputsOf(Instruction instruction);
  std::vector<Operand> outputsOf(Instruction instruction);
  Operand scratchOf(Instruction select, unsigned number);
  std::string attributes(Instruction instruction);
  std::string initPipe(mlir::Operation *op, mlir::Value memory, mlir::Value local);

  mlir::func::FuncOp function_;
  const Machine &machine_;
  PtoasVersion version_;
  const TypeAliases &types_;
  std::vector<Finding> &findings_;
  NameTable names_{NameTable::Style::Pto};
  TextLines body_;
  std::pair<std::string, std::string> file_; ///< of the last line, and as it is quoted
  struct Constant {
    std::string name, definition;
    bool isIndex;
    int64_t number;
  };
  std::vector<Constant> constants_;
  std::map<std::string, std::string> constantNames_; ///< by definition
  std::vector<std::string> made_; ///< lines behind the constants: those that are made of bits
  std::string never_;             ///< a condition that does not hold, which PTOAS cannot know
  llvm::DenseMap<mlir::Value, TileAddress> addresses_;
  llvm::DenseMap<mlir::Value, mlir::Type>
      tileTypes_; ///< where the text has another type than the IR
};

} // namespace ptl::pto
