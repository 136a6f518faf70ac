// Helpers for tests: small modules from text, and kernels around one instruction.
#pragma once

#include "ir/dialect/pto_dialect.h"
#include "runtime/sim/load/load.h"
#include "runtime/sim/run.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

namespace ptl::rt::sim::testing {

inline mlir::MLIRContext &context() {
  static mlir::MLIRContext instance = [] {
    mlir::DialectRegistry registry;
    registry.insert<pto::PtoDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                    mlir::scf::SCFDialect>();
    return mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  }();
  return instance;
}

/// The kernel of a module; fails the test if there is none.
inline Kernel loadText(const std::string &text) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  EXPECT_TRUE(module) << text;
  std::string error;
  std::optional<Kernel> kernel = module ? load(*module, "", error) : std::nullopt;
  EXPECT_TRUE(kernel) << error;
  return kernel.value_or(Kernel{});
}

inline std::string loadError(const std::string &text) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  std::string error;
  EXPECT_TRUE(module);
  if (module)
    EXPECT_FALSE(load(*module, "", error));
  return error;
}

inline std::string readText(const std::string &path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The text of a file of testdata.
inline std::string readModule(const std::string &name) {
  return readText(std::string(PTL_SIM_TESTDATA) + "/" + name);
}

template <typename T> GlobalArray arrayOf(std::vector<T> &data, std::string name = "x") {
  return {reinterpret_cast<uint8_t *>(data.data()), static_cast<int64_t>(data.size() * sizeof(T)),
          std::move(name)};
}

inline Chip chipNamed(std::string_view name) { return chipOf(*findMachine(name)); }

/// A tile of a test: its type and the layout of its array.
struct Spec {
  int rows, cols;
  std::string elem = "f32";
  std::string options = {}; ///< `, blayout=col_major`
  int validRows = -1, validCols = -1;

  int vr() const { return validRows < 0 ? rows : validRows; }
  int vc() const { return validCols < 0 ? cols : validCols; }
  std::string type() const {
    std::string valid = validRows < 0 && validCols < 0
                            ? ""
                            : ", valid=" + std::to_string(vr()) + "x" + std::to_string(vc());
    return "!pto.tile_buf<vec, " + std::to_string(rows) + "x" + std::to_string(cols) + "x" + elem +
           valid + options + ">";
  }
  int bytes() const {
    int width = elem.back() == '8' ? 1 : elem.ends_with("16") ? 2 : elem.ends_with("32") ? 4 : 8;
    return (rows * cols * width + 31) / 32 * 32;
  }
};

/// The text of a vector kernel that loads the inputs `%t0`, `%t1` …, runs `body`, and stores the
/// outputs `%o0` …. The body may use `%N` for constants that it names in `constants`.
inline std::string vectorKernel(const std::vector<Spec> &ins, const std::vector<Spec> &outs,
                                const std::string &body, const std::string &constants = "",
                                const std::string &arch = "a3") {
  std::string text, arguments, loads, stores, allocs;
  std::set<int> numbers{0, 1};
  int address = 0, count = 0;
  auto addTile = [&](const Spec &spec, const std::string &tile, bool isInput) {
    std::string k = std::to_string(count++), vr = std::to_string(spec.vr()),
                vc = std::to_string(spec.vc());
    numbers.insert({spec.vr(), spec.vc()});
    arguments += (count > 1 ? ", " : "") + ("%x" + k + ": !pto.ptr<" + spec.elem + ">");
    std::string view = "!pto.tensor_view<" + vr + "x" + vc + "x" + spec.elem + ">";
    std::string box = "!pto.partition_tensor_view<" + vr + "x" + vc + "x" + spec.elem + ">";
    allocs += "%a" + k + " = arith.constant " + std::to_string(address) + " : i64\n" + tile +
              " = pto.alloc_tile addr = %a" + k + " : " + spec.type() + "\n";
    allocs += "%v" + k + " = pto.make_tensor_view %x" + k + ", shape = [%c" + vr + ", %c" + vc +
              "], strides = [%c" + vc + ", %c1] : " + view + "\n";
    allocs += "%p" + k + " = pto.partition_view %v" + k + ", offsets = [%c0, %c0], sizes = [%c" +
              vr + ", %c" + vc + "] : " + view + " -> " + box + "\n";
    if (isInput)
      loads +=
          "pto.tload ins(%p" + k + " : " + box + ") outs(" + tile + " : " + spec.type() + ")\n";
    else
      stores +=
          "pto.tstore ins(" + tile + " : " + spec.type() + ") outs(%p" + k + " : " + box + ")\n";
    address += spec.bytes();
  };
  for (size_t i = 0; i < ins.size(); ++i)
    addTile(ins[i], "%t" + std::to_string(i), true);
  for (size_t i = 0; i < outs.size(); ++i)
    addTile(outs[i], "%o" + std::to_string(i), false);
  text = "module attributes {\"pto.target_arch\" = \"" + arch + "\"} {\nfunc.func @k(" + arguments +
         ") attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {\n";
  for (int n : numbers)
    text += "%c" + std::to_string(n) + " = arith.constant " + std::to_string(n) + " : index\n";
  text += constants + allocs + loads + "pto.barrier <PIPE_ALL>\n" + body +
          "pto.barrier <PIPE_ALL>\n" + stores + "return\n}\n}\n";
  return text;
}

/// Runs a kernel under all schedules; their results must be equal.
inline void runAll(const Kernel &kernel, std::vector<GlobalArray> arrays,
                   std::string_view chip = "a3") {
  for (Schedule schedule : {Schedule::Program, Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
    Options options;
    options.schedule = schedule;
    options.seed = 7;
    options.stretched = schedule == Schedule::Random;
    Result result = runKernel(kernel, chipNamed(chip), arrays, {}, 1, options);
    ASSERT_TRUE(result.ok) << result.error;
  }
}

/// Why a run stops; empty if it does not.
inline std::string faultOf(const Kernel &kernel, std::vector<GlobalArray> arrays) {
  return runKernel(kernel, chipNamed("a3"), arrays, {}, 1, {}).error;
}

} // namespace ptl::rt::sim::testing
