// A test fixture for tests of the prover.
#pragma once

#include "passes/prover/prover.h"

#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"
#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace ptl::prove {

/// Proves kernels of which tests give the bodies.
class Prover : public ::testing::Test {
protected:
  Prover() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<ir::PtlDialect, pto::PtoDialect, mlir::arith::ArithDialect,
                        mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  }
  /// The text of a vector kernel with a size `n`, two tiles at bytes 0 and 2048, and a box of
  /// global memory.
  std::string kernel(const std::string &body) {
    return R"(
      !t = !pto.tile_buf<vec, 8x64xf32>
      !v = !pto.partition_tensor_view<8x64xf32>
      func.func @k(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index {ptl.name = "n"})
          attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c8 = arith.constant 8 : index
        %c64 = arith.constant 64 : index
        %a0 = arith.constant 0 : i64
        %a1 = arith.constant 2048 : i64
        %one = arith.constant 1.0 : f32
        %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
        %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> !v
        %a = pto.alloc_tile addr = %a0 : !t loc("a")
        %b = pto.alloc_tile addr = %a1 : !t
    )" + body +
           "\n return }";
  }
  ProofResult prove(const std::string &body, const char *machine = "a2") {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel(body), &context);
    EXPECT_TRUE(module);
    return module ? proveBlock(*module, *findMachine(machine)) : ProofResult();
  }
  static std::string codes(const ProofResult &result) {
    std::string text;
    for (const Finding &finding : result.findings)
      text += finding.code() + " ";
    for (const Finding &finding : result.undecided)
      text += finding.code() + " ";
    return text;
  }

  mlir::MLIRContext context;
};

/// Fills the first tile, and reads it into the second.
inline const char *const kFill = "pto.texpands ins(%one : f32) outs(%a : !t)\n";
inline const char *const kAbs = "pto.tabs ins(%a : !t) outs(%b : !t)\n";

} // namespace ptl::prove
