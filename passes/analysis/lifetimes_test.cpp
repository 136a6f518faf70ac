// What is read later, and what may be written over: on small functions at tile level.
#include "passes/analysis/core_dependence.h"
#include "passes/analysis/shared_buffers.h"
#include "passes/analysis/test_operations.h"
#include "passes/analysis/value_liveness.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace ptl::ir {
namespace {

/// Operations are plain arithmetic, found by the name in their attribute `n`; so are stores and
/// loads, which are calls of `"t.store"` and `"t.load"`.
class Lifetimes : public testing::Test {
protected:
  Lifetimes() {
    context_.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect, PtlDialect>();
    context_.allowUnregisteredDialects();
  }

  void parse(const std::string &body) {
    module_ = parseSourceString<ModuleOp>(
        "func.func @f(%c: i1, %n: index, %y: f32, %z: f32) {\n%i0 = arith.constant 0 : index\n"
        "%i1 = arith.constant 1 : index\n" +
            body + "\nreturn\n}",
        &context_);
    ASSERT_TRUE(module_);
  }
  Operation *at(llvm::StringRef name) { return operationNamed(*module_, name); }
  Value result(llvm::StringRef name) { return at(name)->getResult(0); }
  Value argument(unsigned number) {
    return (*module_->getOps<func::FuncOp>().begin()).getArgument(number);
  }

  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
};

const char *const kLoop = R"(
  %a = "t.make"() {n = "a"} : () -> f32
  %r = scf.for %k = %i0 to %n step %i1 iter_args(%s = %a) -> f32 {
    %p = "t.use"(%s) {n = "p"} : (f32) -> f32
    %q = "t.use"(%p, %a) {n = "q"} : (f32, f32) -> f32
    scf.yield %q : f32
  } {n = "loop"}
  "t.use"(%r) {n = "end"} : (f32) -> ())";

TEST_F(Lifetimes, WhatStandsBeforeALoopIsReadAgainInItsNextRound) {
  parse(kLoop);
  EXPECT_TRUE(isReadAfter(result("a"), at("q"))); // by itself
  EXPECT_TRUE(isReadInside(result("a"), at("loop")));
  EXPECT_FALSE(isReadAfter(result("a"), at("loop")));
  EXPECT_TRUE(isReadAfter(result("p"), at("p")));
  EXPECT_FALSE(isReadAfter(result("p"), at("q"))); // made anew in each round
}

TEST_F(Lifetimes, TheOtherBranchReadsNothing) {
  parse(R"(
  %a = "t.make"() {n = "a"} : () -> f32
  scf.if %c {
    "t.use"(%a) {n = "then"} : (f32) -> ()
  } else {
    "t.use"(%a) {n = "else"} : (f32) -> ()
  })");
  EXPECT_FALSE(isReadAfter(result("a"), at("then")));
  EXPECT_FALSE(isReadAfter(result("a"), at("else")));
}

TEST_F(Lifetimes, ABranchInALoopComesRoundAgain) {
  parse(R"(
  %a = "t.make"() {n = "a"} : () -> f32
  scf.for %k = %i0 to %n step %i1 {
    scf.if %c {
      "t.use"(%a) {n = "in"} : (f32) -> ()
    }
  })");
  EXPECT_TRUE(isReadAfter(result("a"), at("in")));
}

TEST_F(Lifetimes, ABufferIsFreeWhenNoneOfItsValuesIsRead) {
  parse(kLoop);
  SharedBuffers buffers;
  Value buffer = argument(2), other = argument(3);
  buffers.bind(result("a"), buffer);
  EXPECT_FALSE(buffers.mayOverwrite(buffer, at("loop"), {3})); // `a` is read inside
  buffers.bind(result("p"), other);
  EXPECT_FALSE(buffers.mayOverwrite(other, at("q")));
  EXPECT_TRUE(buffers.mayOverwrite(other, at("q"), {0}));
  EXPECT_FALSE(buffers.mayOverwrite(other, at("q"), {1}));
  EXPECT_FALSE(buffers.mayOverwrite(buffer, at("q"), {0, 1}));
  buffers.bind(result("p"), buffer); // moved away
  EXPECT_TRUE(buffers.mayOverwrite(other, at("p")));
  EXPECT_EQ(buffers.valuesIn(buffer).size(), 2U);
}

/// `t.cube`, `t.first`, `t.every`, `t.parts`: who does it, on the array that is the operand.
llvm::SmallVector<GlobalAccess, 2> accessesOf(Operation *op) {
  llvm::StringRef name = op->getName().getStringRef();
  GlobalAccess access;
  access.op = op;
  if (!name.consume_front("t."))
    return {};
  access.array = op->getOperand(0);
  access.doer = name.starts_with("cube")    ? Doer::Cube
                : name.starts_with("first") ? Doer::FirstVector
                : name.starts_with("every") ? Doer::EveryVector
                                            : Doer::VectorInParts;
  access.writes = name.ends_with("store") || name.ends_with("add");
  access.commutes = name.ends_with("add");
  if (access.doer == Doer::VectorInParts) {
    access.partsFrom = getAsOpFoldResult(op->getOperand(1));
    access.partsAxis = 0;
  }
  return {access};
}

class Meetings : public Lifetimes {
protected:
  std::string meetings(const std::string &body) {
    parse(body);
    if (!module_)
      return "";
    std::string names;
    Block &block = (*module_->getOps<func::FuncOp>().begin()).getBody().front();
    auto isOver = [](const GlobalAccess &, const GlobalAccess &) { return false; };
    for (Operation *op : findMeetings(block, accessesOf, isOver))
      names += op->getAttrOfType<StringAttr>("n").str() + " ";
    return names;
  }
};

TEST_F(Meetings, CoresMeetBetweenAStoreAndALoadOfAnotherKind) {
  EXPECT_EQ(meetings(R"("t.cube_store"(%y) {n = "a"} : (f32) -> ()
                        "t.every_load"(%y) {n = "b"} : (f32) -> ()
                        "t.every_load"(%y) {n = "c"} : (f32) -> ())"),
            "b ");
  EXPECT_EQ(meetings(R"("t.cube_store"(%y) {n = "a"} : (f32) -> ()
                        "t.cube_load"(%y) {n = "b"} : (f32) -> ()
                        "t.every_load"(%z) {n = "c"} : (f32) -> ())"),
            "");
}

TEST_F(Meetings, WhatIsAddedComesInAnyOrder) {
  EXPECT_EQ(meetings(R"("t.cube_add"(%y) {n = "a"} : (f32) -> ()
                        "t.first_add"(%y) {n = "b"} : (f32) -> ()
                        "t.every_load"(%y) {n = "c"} : (f32) -> ())"),
            "c ");
}

TEST_F(Meetings, VectorCoresMeetUnlessEachKeepsToItsPart) {
  EXPECT_EQ(meetings(R"("t.parts_store"(%y, %n) {n = "a"} : (f32, index) -> ()
                        "t.parts_load"(%y, %n) {n = "b"} : (f32, index) -> ()
                        "t.parts_load"(%y, %i1) {n = "c"} : (f32, index) -> ())"),
            "c ");
  EXPECT_EQ(meetings(R"("t.every_load"(%y) {n = "a"} : (f32) -> ()
                        "t.first_store"(%y) {n = "b"} : (f32) -> ()
                        "t.first_load"(%y) {n = "c"} : (f32) -> ())"),
            "b ");
}

TEST_F(Meetings, ARoundMeetsTheNextOne) {
  EXPECT_EQ(meetings(R"(scf.for %k = %i0 to %n step %i1 {
                          "t.cube_load"(%y) {n = "a"} : (f32) -> ()
                          "t.cube_store"(%z) {n = "b"} : (f32) -> ()
                          "t.first_store"(%y) {n = "c"} : (f32) -> ()
                        })"),
            "c a ");
  // Parts that begin elsewhere in the next round may be another core's.
  EXPECT_EQ(meetings(R"(scf.for %k = %i0 to %n step %i1 {
                          "t.parts_load"(%y, %k) {n = "a"} : (f32, index) -> ()
                          "t.parts_store"(%y, %k) {n = "b"} : (f32, index) -> ()
                        })"),
            "a ");
  EXPECT_EQ(meetings(R"(scf.for %k = %i0 to %n step %i1 {
                          "t.parts_load"(%y, %n) {n = "a"} : (f32, index) -> ()
                          "t.parts_store"(%y, %n) {n = "b"} : (f32, index) -> ()
                        })"),
            "");
}

TEST_F(Meetings, OneBranchDoesNotMeetForTheOther) {
  EXPECT_EQ(meetings(R"("t.cube_store"(%y) {n = "a"} : (f32) -> ()
                        scf.if %c {
                          "t.every_load"(%y) {n = "b"} : (f32) -> ()
                        }
                        "t.every_load"(%y) {n = "c"} : (f32) -> ())"),
            "b c ");
}

} // namespace
} // namespace ptl::ir
