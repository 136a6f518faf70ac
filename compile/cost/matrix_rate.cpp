#include "compile/cost/matrix_rate.h"

#include "compile/cost/best_time.h"
#include "runtime/abi/kernel_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace ptl {

namespace {
/// As blocks of products use them: four registers of C, two of A, two of B.
constexpr uint8_t kSums = 4, kLefts = 2, kRegisters = 8;
constexpr int64_t kRounds = 20'000, kRows = 16, kRowBytes = 64;

llvm::Intrinsic::ID instructionOf(MatrixProduct product) {
  switch (product) {
  case MatrixProduct::Bytes:
    return llvm::Intrinsic::x86_tdpbssd;
  case MatrixProduct::Bf16:
    return llvm::Intrinsic::x86_tdpbf16ps;
  case MatrixProduct::F16:
    return llvm::Intrinsic::x86_tdpfp16ps;
  }
  llvm_unreachable("unknown product");
}

bool hasProduct(const cpu::MatrixUnit &unit, MatrixProduct product) {
  switch (product) {
  case MatrixProduct::Bytes:
    return unit.bytes;
  case MatrixProduct::Bf16:
    return unit.bf16;
  case MatrixProduct::F16:
    return unit.f16;
  }
  llvm_unreachable("unknown product");
}

void configure(llvm::IRBuilder<> &b) {
  // Bytes: 0 the palette, 16 the bytes of a row of each register in 16 bits, 48 the rows of each in 8 bits.
  constexpr uint64_t widths = 0x0001'0001'0001'0001 * kRowBytes,
                     rows = 0x0101'0101'0101'0101 * kRows;
  const uint64_t words[] = {1, 0, widths, widths, 0, 0, rows, 0};
  llvm::Value *memory = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), std::size(words)));
  for (unsigned i = 0; i < std::size(words); ++i)
    b.CreateStore(b.getInt64(words[i]), b.CreateConstGEP1_64(b.getInt64Ty(), memory, i));
  b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {memory});
}
} // namespace

std::unique_ptr<llvm::Module> matrixLoop(llvm::LLVMContext &context, MatrixProduct product) {
  auto module = std::make_unique<llvm::Module>("peak", context);
  llvm::IRBuilder<> b(context);
  auto *type = llvm::FunctionType::get(b.getVoidTy(), false);
  auto *function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "multiply", *module);
  auto *entry = llvm::BasicBlock::Create(context, "entry", function);
  auto *loop = llvm::BasicBlock::Create(context, "loop", function);
  auto *exit = llvm::BasicBlock::Create(context, "exit", function);
  b.SetInsertPoint(entry);
  configure(b);
  for (uint8_t number = 0; number < kRegisters; ++number)
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {b.getInt8(number)});
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto *round = b.CreatePHI(b.getInt64Ty(), 2);
  // Each sum has a register of its own, so that no product has to wait for the one before it.
  for (uint8_t sum = 0; sum < kSums; ++sum)
    b.CreateIntrinsic(
        instructionOf(product), {},
        {b.getInt8(sum), b.getInt8(kSums + sum / 2), b.getInt8(kSums + kLefts + sum % 2)});
  llvm::Value *next = b.CreateAdd(round, b.getInt64(1));
  round->addIncoming(b.getInt64(0), entry);
  round->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpSLT(next, b.getInt64(kRounds)), loop, exit);
  b.SetInsertPoint(exit);
  b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
  b.CreateRetVoid();
  return module;
}

double matrixRate(const cpu::Processor &processor, MatrixProduct product) {
  if (!hasProduct(processor.vectors.matrices, product) || !ptl_rt_matrix_registers())
    return 0;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = matrixLoop(*context, product);
  auto code = cpu::JitCode::create(std::move(context), std::move(module), processor, {});
  if (!code) {
    llvm::consumeError(code.takeError());
    return 0;
  }
  using Function = void (*)();
  auto function = reinterpret_cast<Function>(code->lookup("multiply"));
  if (!function)
    return 0;
  auto body = [](void *closure, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      (*static_cast<Function *>(closure))();
  };
  // Some more pieces than threads let a slow thread do fewer.
  int64_t count = rt::ThreadPool::shared().threadCount() * 4;
  int64_t numbers = kRowBytes / (product == MatrixProduct::Bytes ? 1 : 2);
  double flops = 2.0 * kRounds * kSums * kRows * kRows * static_cast<double>(numbers * count);
  return flops / bestTime(body, &function, count);
}

} // namespace ptl
