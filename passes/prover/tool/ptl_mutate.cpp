// ptl-mutate FILE.mlir...: proves each file, then seeds faults into it and says how many the prover
// finds, as JSON. Exits with 1 if a file is not proved or a mutant survives that changes some
// execution. `--list`: every mutant.
// `--anyway`: also into what is not proved; a mutant counts as found if something else is reported.
// `--confirm`: looks for an interleaving that shows each fault.
// `--prove`: only the findings, as text. `--machine NAME`: instead of the module's.
#include "ir/dialect/attributes.h"
#include "passes/prover/mutation/mutate.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace ptl;

namespace {
struct Options {
  bool list = false, anyway = false, proveOnly = false, confirm = false;
  std::string machine;
};
} // namespace

static std::string machineOf(mlir::ModuleOp module, const Options &options) {
  if (!options.machine.empty())
    return options.machine;
  auto named = attrs::machine.of(module);
  return named ? named.getValue().str() : "a2";
}

static int runFile(const char *path, const Options &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::PtlDialect, pto::PtoDialect, mlir::arith::ArithDialect,
                      mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
  auto machine = module ? findMachine(machineOf(*module, options)) : std::nullopt;
  if (!module || !machine) {
    llvm::errs() << path << ": " << (module ? "no such machine" : "not readable") << "\n";
    return 2;
  }
  // The time of the processor is counted, because many files are proved side by side.
  std::clock_t start = std::clock();
  prove::ProofResult proof = prove::proveBlock(*module, *machine);
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  llvm::json::Object summary{{"file", path},
                             {"proved", proof.proved()},
                             {"instances", proof.instances},
                             {"skipped", proof.skipped},
                             {"events", static_cast<int64_t>(proof.events)},
                             {"milliseconds", seconds * 1e3}};
  llvm::errs() << prove::toText(proof);
  bool failed = !proof.findings.empty();
  // A change to code that has a fault already tells nothing about what the prover would find.
  if (!options.proveOnly && (!failed || options.anyway)) {
    prove::MutationReport report = prove::mutate(*module, *machine, options.confirm);
    summary["killed"] = report.killed;
    summary["harmless"] = report.harmless;
    summary["another"] = report.another;
    summary["survived"] = report.survived;
    if (options.confirm)
      summary["strict"] = report.strict;
    summary["killRate"] = report.killRate();
    summary["millisecondsPerMutant"] =
        report.mutants.empty() ? 0
                               : report.seconds * 1e3 / static_cast<double>(report.mutants.size());
    llvm::json::Array rows;
    for (const prove::MutantReport &mutant : report.mutants)
      if (options.list || (mutant.verdict != "killed" && mutant.verdict != "harmless"))
        rows.push_back(llvm::json::Object{
            {"change", mutant.change}, {"verdict", mutant.verdict}, {"code", mutant.code}});
    summary["mutants"] = std::move(rows);
    failed |= report.survived != 0;
  }
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(summary))) << "\n";
  return failed;
}

int main(int argc, char **argv) {
  Options options;
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef word = argv[i];
    if (word == "--list")
      options.list = true;
    else if (word == "--anyway")
      options.anyway = true;
    else if (word == "--confirm")
      options.confirm = true;
    else if (word == "--prove")
      options.proveOnly = true;
    else if (word == "--machine" && i + 1 < argc)
      options.machine = argv[++i];
    else
      status = std::max(status, runFile(argv[i], options));
  }
  return status;
}
