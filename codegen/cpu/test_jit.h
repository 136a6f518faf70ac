// A helper for tests: runs emitted straight-line code over arrays.
#pragma once

#include "codegen/cpu/elem_cast.h"
#include "codegen/cpu/native.h"
#include "codegen/cpu/to_llvm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <gtest/gtest.h>

namespace ptl::cpu::testing {

/// `body(emit, x, y)` on `lanes` elements at a time (0: scalars), from the logical type `in` to
/// `out`, as a function (const void *x, const void *y, void *result, int64_t count); count must be
/// a multiple of the lanes.
using Body = std::function<mlir::Value(const Emit &, mlir::Value x, mlir::Value y)>;
using Mapped = void (*)(const void *, const void *, void *, int64_t);

class MapKernel {
public:
  MapKernel(mlir::MLIRContext &context, mlir::Type in, mlir::Type out, int64_t lanes,
            const Body &body) {
    mlir::OpBuilder b(&context);
    auto loc = b.getUnknownLoc();
    auto module = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(loc));
    auto pointer = mlir::LLVM::LLVMPointerType::get(&context);
    b.setInsertionPointToEnd(module->getBody());
    auto type = b.getFunctionType({pointer, pointer, pointer, b.getI64Type()}, {});
    auto function = b.create<mlir::func::FuncOp>(loc, "map", type);
    auto *entry = function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    mlir::Value count =
        b.create<mlir::arith::IndexCastOp>(loc, b.getIndexType(), entry->getArgument(3));
    int64_t step = std::max<int64_t>(lanes, 1);
    Emit outer(b, loc, Processor::host().vectors);
    outer.loop(outer.index(0), count, outer.index(step), {},
               [&](const Emit &e, mlir::Value i, mlir::ValueRange) {
                 emitBody(e, i, entry->getArguments(), in, out, lanes, body);
                 return llvm::SmallVector<mlir::Value>();
               });
    b.create<mlir::func::ReturnOp>(loc);
    compile(*module);
  }

  template <typename In, typename Out>
  std::vector<Out> operator()(const std::vector<In> &x, const std::vector<In> &y = {}) const {
    std::vector<Out> result(x.size());
    entry_(x.data(), y.empty() ? x.data() : y.data(), result.data(),
           static_cast<int64_t>(x.size()));
    return result;
  }

private:
  static void emitBody(const Emit &e, mlir::Value i, mlir::ValueRange arguments, mlir::Type in,
                       mlir::Type out, int64_t lanes, const Body &body) {
    auto pointer = arguments[0].getType();
    auto at = [&](int argument, mlir::Type logical) -> mlir::Value {
      return e.b.create<mlir::LLVM::GEPOp>(e.loc, pointer, storageType(logical),
                                           arguments[argument], e.indexCast(i, e.b.getI64Type()));
    };
    auto load = [&](int argument) {
      mlir::Type scalar = storageType(in);
      mlir::Type type = lanes ? mlir::Type(mlir::VectorType::get({lanes}, scalar)) : scalar;
      mlir::Value stored = e.b.create<mlir::LLVM::LoadOp>(e.loc, type, at(argument, in), 1);
      return fromStorage(e, stored, in);
    };
    mlir::Value x = load(0), y = load(1);
    mlir::Value result = toStorage(e, body(e, x, y), out);
    e.b.create<mlir::LLVM::StoreOp>(e.loc, result, at(2, out), 1);
  }

  void compile(mlir::ModuleOp module) {
    llvm::cantFail(lowerToLlvmDialect(module));
    auto llvmContext = std::make_unique<llvm::LLVMContext>();
    auto llvmModule = llvm::cantFail(translateToLlvm(module, *llvmContext));
    Processor processor = Processor::host();
    auto machine = llvm::cantFail(makeTargetMachine(processor));
    optimise(*llvmModule, *machine, 2);
    code_ = std::make_unique<JitCode>(llvm::cantFail(
        JitCode::create(std::move(llvmContext), std::move(llvmModule), processor, {})));
    entry_ = reinterpret_cast<Mapped>(code_->lookup("map"));
    ASSERT_NE(entry_, nullptr);
  }

  std::unique_ptr<JitCode> code_;
  Mapped entry_ = nullptr;
};

inline mlir::MLIRContext &testContext() {
  static auto *context = [] {
    mlir::DialectRegistry registry;
    registerCpuDialects(registry);
    auto *result = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    result->loadAllAvailableDialects();
    return result;
  }();
  return *context;
}

} // namespace ptl::cpu::testing
