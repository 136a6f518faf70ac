// The backends of ptl-tblgen. Each writes one file from the records.
#pragma once

#include "ir/tblgen/instruction_record.h"
#include "ir/tblgen/op_record.h"

namespace llvm {
class RecordKeeper;
class raw_ostream;
} // namespace llvm

namespace ptl::tblgen {

/// `PTL_OP(Name)` per record, for enumerations.
void emitOpIds(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// Writes the constant data of `ir/ops/op_table.h`.
void emitOpTable(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// Writes the constant data of `ir/ops/op_lowering.h`.
void emitOpLowering(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// `PTL_ATTRIBUTE(Helper, accessor, carriers, type, words)` per discardable attribute of the dialect.
void emitAttributes(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Writes the Markdown page of a group; for an empty `group` the page that lists all.
void emitDocs(const std::vector<Op> &ops, const std::string &group, llvm::raw_ostream &os);
/// JSON word lists for editors: `{"groups": {…}, "operators": […], "elementTypes": […]}`.
void emitWords(const std::vector<Op> &ops, llvm::raw_ostream &os);
/// Writes one line per record: mnemonic, name, class and the support of each target, separated by
/// tabs. Coverage tests compare it with the lowerings, the reference functions and the goldens.
void emitCoverage(const std::vector<Op> &ops, llvm::raw_ostream &os);

/// `PTL_INSTRUCTION(Id, "mnemonic")` per instruction.
void emitInstructionIds(const InstructionSet &set, llvm::raw_ostream &os);
/// Initialisers of `InstructionInfo` (ir/ops/instruction_table.h).
void emitInstructionTable(const InstructionSet &set, llvm::raw_ostream &os);
/// `instructionShapes`, an array of `InstructionShape` (frontend/sema/block/instruction_shapes.h).
void emitInstructionShapes(const InstructionSet &set, llvm::raw_ostream &os);
/// `attributeTable`, an array of `InstructionAttribute` (ir/ops/instruction_attributes.h).
void emitInstructionAttributes(const InstructionSet &set, llvm::raw_ostream &os);
/// For the simulator: writes `SEMANTICS(Id, function)`, and rows `<EXECUTOR>(Id, facts...)` for the
/// executors that take facts. Rows of an undefined macro are skipped.
void emitInstructionSemantics(const InstructionSet &set, llvm::raw_ostream &os);
/// Writes initialisers `{id, "when", "text"}` of the calls in C++ that records spell out.
void emitInstructionCalls(const InstructionSet &set, llvm::raw_ostream &os);

} // namespace ptl::tblgen
