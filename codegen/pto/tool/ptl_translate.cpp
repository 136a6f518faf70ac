// ptl-translate: prints the block level as `.pto` or C++.
//   ptl-translate [--to=pto|cpp] [--machine=NAME] [--ptoas-version=0.27] [--lines] FILE
#include "codegen/pto/emit_cpp.h"
#include "codegen/pto/emit_pto.h"
#include "ir/dialect/attributes.h"

#include "ir/dialect/pto_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::init("-")),
      machineName("machine", llvm::cl::desc("default: `ptl.machine` of the module")),
      to("to", llvm::cl::init("pto"), llvm::cl::desc("pto or cpp")),
      versionText("ptoas-version", llvm::cl::init("0.27"));
  llvm::cl::opt<bool> lines("lines", llvm::cl::desc("the source line before each line")),
      directives("line-directives", llvm::cl::desc("C++: #line"));
  llvm::cl::ParseCommandLineOptions(argc, argv, "ptl-translate\n");

  mlir::DialectRegistry registry;
  registry.insert<ptl::ir::PtlDialect, ptl::pto::PtoDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module)
    return 1;
  std::string name = machineName;
  if (auto attribute = ptl::attrs::machine.of(*module); attribute && name.empty())
    name = attribute.str();
  std::optional<ptl::Machine> machine = ptl::findMachine(name.empty() ? "a3" : name);
  std::optional<ptl::pto::PtoasVersion> version =
      ptl::pto::PtoasVersion::parse(versionText.getValue());
  if (!machine || !version) {
    llvm::errs() << "ptl-translate: unknown machine or version\n";
    return 2;
  }
  ptl::pto::CppOptions options;
  options.lineDirectives = directives;
  ptl::pto::Emitted emitted = to == "cpp" ? ptl::pto::emitCpp(*module, *machine, options)
                                          : ptl::pto::emitPto(*module, *machine, *version);
  unsigned number = 0;
  for (llvm::StringRef rest = emitted.text; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    rest = after;
    const ptl::pto::SourcePlace *place = emitted.lines.at(++number);
    if (lines)
      llvm::outs() << (place ? std::to_string(place->line) : "") << "\t";
    llvm::outs() << line << "\n";
  }
  for (const ptl::pto::Finding &finding : emitted.findings) {
    if (finding.place)
      llvm::errs() << finding.place->file << ":" << finding.place->line << ":"
                   << finding.place->column << ": ";
    llvm::errs() << finding.message << "\n";
  }
  return emitted.findings.empty() ? 0 : 1;
}
