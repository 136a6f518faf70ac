// Compiles one matrix product for tests and measurements.
#pragma once

#include "codegen/cpu/microkernel.h"
#include "codegen/cpu/native.h"
#include "codegen/cpu/test_matrix_registers.h"
#include "codegen/cpu/to_llvm.h"

#include <cstdlib>
#include <memory>

namespace ptl::cpu::testing {

/// Scratch for the code under test: one fixed block, allocated like a stack.
struct TestScratch {
  static constexpr int64_t Size = 64 << 20;
  char *memory = static_cast<char *>(std::aligned_alloc(64, Size));
  int64_t used = 0;
  ~TestScratch() { std::free(memory); }
  static void *allocate(TestScratch *self, int64_t bytes) {
    void *result = self->memory + self->used;
    self->used += (bytes + 63) / 64 * 64;
    return self->used <= Size ? result : nullptr;
  }
  static int64_t mark(TestScratch *self) { return self->used; }
  static void release(TestScratch *self, int64_t mark) { self->used = mark; }
};

/// C[m, n] (row stride `cRow`) += A * B, strides in elements.
using ProductEntry = void (*)(TestScratch *, const void *a, int64_t aRow, int64_t aColumn,
                              const void *b, int64_t bRow, int64_t bColumn, void *c, int64_t cRow,
                              int64_t m, int64_t n, int64_t k);

struct CompiledProduct {
  std::unique_ptr<JitCode> code;
  ProductEntry entry;
};

inline CompiledProduct compileProduct(mlir::MLIRContext &context, mlir::Type a, mlir::Type b,
                                      Processor processor = Processor::host(),
                                      bool accumulate = true) {
  mlir::OpBuilder builder(&context);
  auto loc = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(loc));
  builder.setInsertionPointToEnd(module->getBody());
  mlir::Type pointer = pointerType(&context), index = builder.getIndexType();
  auto type = builder.getFunctionType(
      {pointer, pointer, index, index, pointer, index, index, pointer, index, index, index, index},
      {});
  auto function = builder.create<mlir::func::FuncOp>(loc, "product", type);
  auto *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  auto v = entry->getArguments();
  Emit e(builder, loc, processor.vectors);
  emitProduct(e, v[0], {a, v[1], v[2], v[3]}, {b, v[4], v[5], v[6]},
              {accumulatorType(a, b), v[7], v[8], e.index(1)}, v[9], v[10], v[11], accumulate);
  builder.create<mlir::func::ReturnOp>(loc);
  llvm::cantFail(lowerToLlvmDialect(*module));
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto llvmModule = llvm::cantFail(translateToLlvm(*module, *llvmContext));
  auto machine = llvm::cantFail(makeTargetMachine(processor));
  optimise(*llvmModule, *machine, 2);
  if (const char *path = std::getenv("PTL_TEST_ASSEMBLY")) {
    std::string text = llvm::cantFail(emitOutput(*llvmModule, *machine, OutputKind::Assembly));
    if (FILE *file = std::fopen(path, "w")) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fclose(file);
    }
  }
  JitCode::Symbols symbols = {
      {"ptl_rt_scratch", reinterpret_cast<void *>(&TestScratch::allocate)},
      {"ptl_rt_scratch_mark", reinterpret_cast<void *>(&TestScratch::mark)},
      {"ptl_rt_scratch_release", reinterpret_cast<void *>(&TestScratch::release)},
#define PTL_EMULATED(NAME) {"ptl_emulated_" #NAME, reinterpret_cast<void *>(&ptl_emulated_##NAME)}
      PTL_EMULATED(matrix_registers),
      PTL_EMULATED(ldtilecfg),
      PTL_EMULATED(tilerelease),
      PTL_EMULATED(tilezero),
      PTL_EMULATED(tileloadd64),
      PTL_EMULATED(tilestored64),
      PTL_EMULATED(tdpbssd),
      PTL_EMULATED(tdpbsud),
      PTL_EMULATED(tdpbusd),
      PTL_EMULATED(tdpbuud),
      PTL_EMULATED(tdpbf16ps),
      PTL_EMULATED(tdpfp16ps)};
#undef PTL_EMULATED
  auto code = std::make_unique<JitCode>(llvm::cantFail(
      JitCode::create(std::move(llvmContext), std::move(llvmModule), processor, symbols)));
  auto address = reinterpret_cast<ProductEntry>(code->lookup("product"));
  return {std::move(code), address};
}

} // namespace ptl::cpu::testing
