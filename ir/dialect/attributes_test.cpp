#include "ir/dialect/attributes.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace ptl {
namespace {

/// Parsed text, and what the verifiers say of it.
struct Parsed {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::string message;

  explicit Parsed(llvm::StringRef text) {
    context.loadDialect<ir::PtlDialect, pto::PtoDialect, arith::ArithDialect, func::FuncDialect,
                        scf::SCFDialect>();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        message += diagnostic.str();
    });
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  func::FuncOp function() { return *module->getOps<func::FuncOp>().begin(); }
};

/// A function with a loop whose attributes these are.
std::string loopWith(const std::string &attributes) {
  return "func.func @f(%n: index) {\n  scf.for %i = %n to %n step %n {\n  } {" + attributes +
         "}\n  return\n}\n";
}

TEST(Attributes, StandWhereTheyAreDeclared) {
  Parsed parsed(R"(
module attributes {ptl.machine = "a2", ptl.by_hand} {
  func.func @f(%n: index {ptl.name = "n", ptl.dim = "N"}) attributes {ptl.kind = "program", ptl.cores = 2} {
    ptl.parallel (%i) = (%n) to (%n) step (%n) {
      scf.for %j = %n to %n step %n {
      } {ptl.pipeline = 2, ptl.core = "aiv", ptl.accumulates = array<i64: 0>}
    } {ptl.core = "mix", ptl.queues = []}
    pto.barrier <PIPE_V> {ptl.why = "it has to"}
    return
  }
})");
  EXPECT_EQ(parsed.message, "");
  EXPECT_TRUE(parsed.module);
}

TEST(Attributes, WithoutADeclarationAreErrors) {
  EXPECT_EQ(Parsed(loopWith("ptl.pipelined = 2")).message,
            "'scf.for' op has `ptl.pipelined`, which is no attribute of the dialect");
  EXPECT_EQ(Parsed("func.func @f(%n: index {ptl.nome = \"n\"}) { return }").message,
            "'func.func' op has `ptl.nome`, which is no attribute of the dialect");
  EXPECT_EQ(Parsed(loopWith("other.pipelined = 2")).message, "");
}

TEST(Attributes, OfOtherTypesAreErrors) {
  EXPECT_EQ(Parsed(loopWith("ptl.pipeline = \"2\"")).message,
            "'scf.for' op has `ptl.pipeline`, which must be a 64-bit signless integer attribute, "
            "not \"2\"");
  EXPECT_EQ(Parsed(loopWith("ptl.pipeline = 2 : i32")).message,
            "'scf.for' op has `ptl.pipeline`, which must be a 64-bit signless integer attribute, "
            "not 2 : i32");
  EXPECT_EQ(Parsed("func.func @f(%n: index {ptl.name}) { return }").message,
            "'func.func' op argument 0 has `ptl.name`, which must be a string attribute, not unit");
}

TEST(Attributes, OfOtherWordsAreErrors) {
  EXPECT_EQ(Parsed(loopWith("ptl.turn = \"beside\"")).message,
            "'scf.for' op has `ptl.turn`, which must be one of `ahead`, `behind`, not `beside`");
}

TEST(Attributes, OnAnythingElseAreErrors) {
  EXPECT_EQ(Parsed("func.func @f() attributes {ptl.pipeline = 2} { return }").message,
            "'func.func' op has `ptl.pipeline`, which is for loops");
  EXPECT_EQ(Parsed("func.func @f(%n: index {ptl.kernel = \"k\"}) { return }").message,
            "'func.func' op argument 0 has `ptl.kernel`, which is for functions");
  EXPECT_EQ(Parsed("func.func @f() attributes {ptl.name = \"n\"} { return }").message,
            "'func.func' op has `ptl.name`, which is for arguments of functions");
  EXPECT_EQ(Parsed(loopWith("ptl.why = \"it has to\"")).message,
            "'scf.for' op has `ptl.why`, which is for instructions");
  EXPECT_EQ(Parsed("module attributes {ptl.cores = 2} {}").message,
            "'builtin.module' op has `ptl.cores`, which is for functions and operations in a "
            "function");
  EXPECT_EQ(Parsed("func.func private @f() -> (index {ptl.name = \"n\"})").message,
            "'func.func' op result 0 has `ptl.name`: results have no attributes of the dialect");
}

TEST(Attributes, AreReadAndWrittenByTheirAccessors) {
  Parsed parsed(loopWith("ptl.pipeline = 3"));
  ASSERT_TRUE(parsed.module);
  func::FuncOp function = parsed.function();
  scf::ForOp loop = *function.getOps<scf::ForOp>().begin();
  EXPECT_EQ(attrs::pipeline.of(loop).getInt(), 3);
  attrs::pipeline.set(loop, 2);
  EXPECT_EQ(attrs::pipeline.take(loop).getInt(), 2);
  EXPECT_FALSE(attrs::pipeline.isOn(loop));
  EXPECT_FALSE(attrs::pipeline.of(loop));
  attrs::point.set(loop);
  attrs::accumulates.set(loop, {0, 1});
  EXPECT_EQ(attrs::accumulates.of(loop).size(), 2);
  EXPECT_TRUE(attrs::point.isOn(loop));

  EXPECT_FALSE(attrs::firstOf(function, 0, attrs::name, attrs::dim));
  attrs::dim.set(function, 0, "N");
  attrs::strides.set(function, 0, "any");
  EXPECT_EQ(attrs::strides.of(function, 0).getValue(), "any");
  EXPECT_EQ(attrs::firstOf(function, 0, attrs::name, attrs::dim).getValue(), "N");
  attrs::name.set(function, 0, std::string("n"));
  EXPECT_EQ(attrs::firstOf(function, 0, attrs::name, attrs::dim).getValue(), "n");
}

} // namespace
} // namespace ptl
