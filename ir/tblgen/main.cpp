// ptl-tblgen: reads the op records and writes tables, pages and word lists.
#include "ir/tblgen/backends.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Main.h"

using namespace llvm;
using namespace ptl::tblgen;

enum class Backend { OpIds, OpTable, Attributes, Docs, Words, Coverage };

static cl::opt<Backend> backend(
    cl::desc("what to write:"), cl::Required,
    cl::values(clEnumValN(Backend::OpIds, "gen-op-ids", "enumerators of OpId"),
               clEnumValN(Backend::OpTable, "gen-op-table", "data of ir/ops/op_table.h"),
               clEnumValN(Backend::Attributes, "gen-attributes", "rows of ir/dialect/attributes.h"),
               clEnumValN(Backend::Docs, "gen-docs", "Markdown page of --group, or of all"),
               clEnumValN(Backend::Words, "gen-words", "JSON word lists for editors"),
               clEnumValN(Backend::Coverage, "gen-coverage", "support per record and target")));
static cl::opt<std::string> group("group", cl::desc("group of the page"), cl::value_desc("name"));

static bool emit(raw_ostream &os, RecordKeeper &records) {
  std::vector<Op> ops = readOps(records);
  switch (backend) {
  case Backend::OpIds:
    emitOpIds(ops, os);
    break;
  case Backend::OpTable:
    emitOpTable(ops, os);
    break;
  case Backend::Attributes:
    emitAttributes(records, os);
    break;
  case Backend::Docs:
    emitDocs(ops, group, os);
    break;
  case Backend::Words:
    emitWords(ops, os);
    break;
  case Backend::Coverage:
    emitCoverage(ops, os);
    break;
  }
  return false;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "records of built-in operations to tables\n");
  return TableGenMain(argv[0], emit);
}
