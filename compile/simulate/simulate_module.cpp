#include "compile/simulate/simulate_module.h"

#include "common/read_number.h"
#include "ir/dialect/pto_dialect.h"
#include "runtime/sim/load/load.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>

namespace ptl {

namespace sim = rt::sim;

/// Nobody says how large an array is; it costs nothing.
static constexpr int64_t kBytesOfArray = int64_t(1) << 40;

/// The module as a kernel; nothing, and an `error`, for what cannot be read.
static std::optional<sim::Kernel> loadModule(std::string_view text, const std::string &path,
                                             const std::string &name, std::string &error) {
  mlir::DialectRegistry registry;
  registry.insert<pto::PtoDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::scf::SCFDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream out(error);
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && error.empty())
      out << diagnostic.getLocation() << ": " << diagnostic;
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(
      llvm::StringRef(text.data(), text.size()), &context, path);
  if (!module)
    return std::nullopt;
  return sim::load(*module, name, error);
}

std::string simulateBlockModule(std::string_view text, const std::string &path,
                                const std::string &name, const std::vector<std::string> &words,
                                const BlockSimulation &how, sim::Report &report) {
  std::string error;
  std::optional<sim::Kernel> kernel = loadModule(text, path, name, error);
  if (!kernel)
    return error.empty() ? "`" + path + "` is not a module of the block level" : error;
  std::map<std::string, int64_t> given;
  for (const std::string &word : words) {
    size_t equals = std::min(word.find('='), word.size());
    std::optional<int64_t> number =
        integerIn(std::string_view(word).substr(std::min(equals + 1, word.size())));
    if (!number)
      return "`" + word + "` is not NAME=NUMBER";
    given[word.substr(0, equals)] = *number;
  }
  sim::TimeOptions options;
  options.warm = how.warm;
  sim::Timer timer(how.machine, how.costs, options);
  std::vector<sim::GlobalArray> arrays;
  std::vector<uint32_t> numbers;
  std::vector<sim::Scalar> scalars;
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    const sim::Parameter &parameter = kernel->parameters[i];
    std::string known = parameter.name.empty() ? "arg" + std::to_string(i) : parameter.name;
    if (parameter.isPointer) {
      arrays.push_back({nullptr, kBytesOfArray, known});
      numbers.push_back(timer.addArray(kBytesOfArray));
    } else if (given.count(known)) {
      scalars.push_back(sim::Scalar::integer(given[known]));
      report.dims.push_back({known, given[known]});
    } else {
      return "`" + known + "` of `" + kernel->name + "` has no value; give " + known + "=NUMBER";
    }
  }
  report.groupsOfChip = timer.groupsFor(*kernel);
  bool ok = timer.run(*kernel, arrays, numbers, scalars, report.groupsOfChip);
  report.timeline = timer.take();
  report.entry = kernel->name;
  report.machine = how.machine.name;
  report.analysis = sim::analyse(report.timeline, report.groupsOfChip);
  return ok ? "" : report.timeline.error;
}

} // namespace ptl
