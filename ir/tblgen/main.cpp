// ptl-tblgen: reads the records of ops or of instructions and writes tables, pages and word lists.
#include "ir/tblgen/backends.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Main.h"

using namespace llvm;
using namespace ptl::tblgen;

enum class Backend {
  OpIds,
  OpTable,
  OpLowering,
  Attributes,
  Docs,
  Words,
  Coverage,
  InstructionIds, // from here on of instructions
  InstructionTable,
  InstructionShapes,
  InstructionAttributes,
  InstructionSemantics,
  InstructionCalls,
};

static cl::opt<Backend> backend(
    cl::desc("what to write:"), cl::Required,
    cl::values(clEnumValN(Backend::OpIds, "gen-op-ids", "enumerators of OpId"),
               clEnumValN(Backend::OpTable, "gen-op-table", "data of ir/ops/op_table.h"),
               clEnumValN(Backend::OpLowering, "gen-op-lowering", "data of ir/ops/op_lowering.h"),
               clEnumValN(Backend::Attributes, "gen-attributes", "rows of ir/dialect/attributes.h"),
               clEnumValN(Backend::Docs, "gen-docs", "Markdown page of --group, or of all"),
               clEnumValN(Backend::Words, "gen-words", "JSON word lists for editors"),
               clEnumValN(Backend::Coverage, "gen-coverage", "support per record and target"),
               clEnumValN(Backend::InstructionIds, "gen-instruction-ids", "rows of InstructionId"),
               clEnumValN(Backend::InstructionTable, "gen-instruction-table",
                          "rows of ir/ops/instruction_table.h"),
               clEnumValN(Backend::InstructionShapes, "gen-instruction-shapes",
                          "what operands of instructions must be"),
               clEnumValN(Backend::InstructionAttributes, "gen-instruction-attributes",
                          "rows of ir/ops/instruction_attributes.h"),
               clEnumValN(Backend::InstructionSemantics, "gen-instruction-semantics",
                          "rows of the simulator"),
               clEnumValN(Backend::InstructionCalls, "gen-instruction-calls", "calls in C++")));
static cl::opt<std::string> group("group", cl::desc("group of the page"), cl::value_desc("name"));

static void emitOps(const std::vector<Op> &ops, raw_ostream &os) {
  switch (static_cast<Backend>(backend)) {
  case Backend::OpIds:
    return emitOpIds(ops, os);
  case Backend::OpTable:
    return emitOpTable(ops, os);
  case Backend::OpLowering:
    return emitOpLowering(ops, os);
  case Backend::Docs:
    return emitDocs(ops, group, os);
  case Backend::Words:
    return emitWords(ops, os);
  default:
    return emitCoverage(ops, os);
  }
}

static void emitInstructions(const InstructionSet &set, raw_ostream &os) {
  switch (static_cast<Backend>(backend)) {
  case Backend::InstructionIds:
    return emitInstructionIds(set, os);
  case Backend::InstructionTable:
    return emitInstructionTable(set, os);
  case Backend::InstructionShapes:
    return emitInstructionShapes(set, os);
  case Backend::InstructionAttributes:
    return emitInstructionAttributes(set, os);
  case Backend::InstructionSemantics:
    return emitInstructionSemantics(set, os);
  default:
    return emitInstructionCalls(set, os);
  }
}

static bool emit(raw_ostream &os, RecordKeeper &records) {
  if (backend == Backend::Attributes)
    emitAttributes(records, os);
  else if (backend < Backend::InstructionIds)
    emitOps(readOps(records), os);
  else
    emitInstructions(readInstructions(records), os);
  return false;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "records of built-in operations and of instructions to tables\n");
  return TableGenMain(argv[0], emit);
}
