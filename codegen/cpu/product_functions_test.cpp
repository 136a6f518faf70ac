#include "codegen/cpu/product_functions.h"

#include "codegen/cpu/to_llvm.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include <gtest/gtest.h>
#include <map>

namespace ptl::cpu {
namespace {

using namespace mlir;

class ProductFunctions : public ::testing::Test {
protected:
  ProductFunctions() : builder_(&context_) {
    DialectRegistry registry;
    registerCpuDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  Type typeOf(StringRef name) {
    if (name == "f16")
      return builder_.getF16Type();
    if (name == "bf16")
      return builder_.getBF16Type();
    if (name == "f32")
      return builder_.getF32Type();
    if (name == "f64")
      return builder_.getF64Type();
    if (name == "ui8")
      return builder_.getIntegerType(8, false);
    return builder_.getIntegerType(name == "i8" ? 8 : 32);
  }

  ProductRoot rootOf(bool isSum, StringRef a, StringRef b) {
    return {isSum, typeOf(a), typeOf(b), accumulatorOf(a, b)};
  }

  Type accumulatorOf(StringRef a, StringRef b) {
    if (a == "f64")
      return builder_.getF64Type();
    return a.contains('f') ? Type(builder_.getF32Type()) : builder_.getI32Type();
  }

  /// The module of a root with all bodies, or with declarations only.
  OwningOpRef<ModuleOp> moduleOf(const ProductRoot &root, const VectorUnit &unit,
                                 ProductBodies *bodies) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder_.getUnknownLoc());
    builder_.setInsertionPointToEnd(module->getBody());
    Emit e(builder_, builder_.getUnknownLoc(), unit);
    e.bodies = bodies;
    func::FuncOp function = rootFunction(e, root);
    if (bodies) {
      // A declaration that nothing calls is removed.
      builder_.setInsertionPointToEnd(module->getBody());
      auto caller = builder_.create<func::FuncOp>(builder_.getUnknownLoc(), "caller",
                                                  function.getFunctionType());
      builder_.setInsertionPointToStart(caller.addEntryBlock());
      builder_.create<func::CallOp>(builder_.getUnknownLoc(), function, caller.getArguments());
      builder_.create<func::ReturnOp>(builder_.getUnknownLoc());
    }
    return module;
  }

  static std::string bodyOf(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream out(text);
    for (Operation &op : function.getBody().getOps())
      out << op.getName() << '\n';
    for (Block &block : function.getBody())
      for (Operation &op : block)
        if (auto call = dyn_cast<func::CallOp>(op))
          out << call.getCallee() << '\n';
    function.getBody().walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        out << attribute.getName() << '=' << attribute.getValue() << '\n';
      for (Type type : op->getOperandTypes())
        out << type << '\n';
    });
    return text;
  }

  static std::map<std::string, std::string> bodiesOf(ModuleOp module) {
    std::map<std::string, std::string> bodies;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        bodies[function.getName().str()] = bodyOf(function);
    return bodies;
  }

  /// The bodies of all functions that are reached from a root, each made alone.
  std::map<std::string, std::string> madeAlone(const ProductRoot &root, const VectorUnit &unit) {
    ProductBodies none;
    OwningOpRef<ModuleOp> module = moduleOf(root, unit, &none);
    DeferredFunctions wanted = none.finish(*module);
    EXPECT_EQ(wanted.size(), 1u) << "only the root is called";
    std::map<std::string, std::string> bodies;
    while (!wanted.empty()) {
      DeferredFunction next = wanted.back();
      wanted.pop_back();
      if (bodies.count(next.name))
        continue;
      DeferredFunctions called;
      OwningOpRef<ModuleOp> alone = deferredFunction(context_, next.recipe, unit, called);
      EXPECT_TRUE(alone) << next.recipe;
      if (!alone)
        return bodies;
      auto own = bodiesOf(*alone);
      EXPECT_EQ(own.size(), 1u) << next.recipe;
      bodies[next.name] = own[next.name];
      wanted.insert(wanted.end(), called.begin(), called.end());
    }
    return bodies;
  }

  MLIRContext context_;
  OpBuilder builder_;
};

std::vector<VectorUnit> units() {
  VectorUnit sse, avx2, avx512;
  avx2.bytes = 32;
  avx2.i16PairBytes = 32;
  avx512.bytes = avx512.i16PairBytes = 64;
  avx512.byteDotBytes = avx512.i16DotBytes = 64;
  avx512.scalesByPowers = avx512.bf16Pairs = true;
  VectorUnit amx = avx512;
  amx.matrices.bytes = amx.matrices.bf16 = true;
  return {sse, avx2, avx512, amx};
}

TEST_F(ProductFunctions, MadeAloneAreTheSame) {
  std::pair<StringRef, StringRef> types[] = {{"f32", "f32"},   {"f64", "f64"}, {"f16", "f16"},
                                             {"bf16", "bf16"}, {"i8", "i8"},   {"ui8", "i8"},
                                             {"f32", "bf16"},  {"i32", "i32"}};
  for (const VectorUnit &unit : units())
    for (auto [a, b] : types)
      for (bool isSum : {false, true}) {
        ProductRoot root = rootOf(isSum, a, b);
        auto whole = bodiesOf(*moduleOf(root, unit, nullptr));
        auto alone = madeAlone(root, unit);
        for (auto &[name, body] : alone) {
          ASSERT_TRUE(whole.count(name)) << name;
          EXPECT_EQ(body, whole[name]) << name;
        }
        // What the whole module has beside them is not called.
        EXPECT_GE(alone.size(), 8u);
        EXPECT_LE(alone.size(), whole.size());
      }
}

TEST_F(ProductFunctions, BodiesAreLeftOut) {
  ProductBodies none;
  OwningOpRef<ModuleOp> module = moduleOf(rootOf(true, "f32", "f32"), units().back(), &none);
  DeferredFunctions deferred = none.finish(*module);
  ASSERT_EQ(deferred.size(), 1u);
  EXPECT_EQ(deferred[0].name, "ptl_sum_f32_f32_f32");
  EXPECT_EQ(deferred[0].recipe, "sum\nf32\nf32\nf32\nptl_sum_f32_f32_f32");
  // The caller, and what it calls.
  EXPECT_EQ(
      std::distance(module->getOps<func::FuncOp>().begin(), module->getOps<func::FuncOp>().end()),
      2);
}

TEST_F(ProductFunctions, OtherTextsAreNoRecipes) {
  DeferredFunctions called;
  for (StringRef text :
       {"", "sum", "sum\nf32\nf32\nf32", "sum\nf32\nf32\nf32\nptl_unknown",
        "other\nf32\nf32\nf32\nptl_sum_f32_f32_f32", "sum\nf32\nnone of these\nf32\nptl_sum"})
    EXPECT_FALSE(deferredFunction(context_, text, units().back(), called)) << text.str();
}

} // namespace
} // namespace ptl::cpu
