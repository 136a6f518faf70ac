#include "driver/ir/machine_peaks.h"

#include "runtime/schedule/pool.h"

#include "llvm/IR/IRBuilder.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

namespace ptl {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5; ///< the best one counts
constexpr int64_t kCopyBytes = int64_t(64) << 20, kCopyChunk = int64_t(1) << 20;
/// Sums in flight: more than the latency of a multiply-add times its rate, and no more than there
/// are registers.
constexpr unsigned kChains = 12;
constexpr int64_t kSteps = 200'000;

/// Seconds of the fastest of a few rounds over all threads.
double bestTime(rt::ThreadPool::Body body, void *closure, int64_t count) {
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    Clock::time_point start = Clock::now();
    rt::ThreadPool::shared().run(body, closure, count, 1, nullptr);
    double time = std::chrono::duration<double>(Clock::now() - start).count();
    best = round == 0 ? time : std::min(best, time);
  }
  return best;
}

double copyRate() {
  struct Buffers {
    std::unique_ptr<char[]> from{new (std::nothrow) char[kCopyBytes]};
    std::unique_ptr<char[]> to{new (std::nothrow) char[kCopyBytes]};
  } buffers;
  if (!buffers.from || !buffers.to)
    return 0;
  auto fill = [](void *closure, int64_t begin, int64_t end) {
    auto *b = static_cast<Buffers *>(closure);
    std::memset(b->from.get() + begin * kCopyChunk, 1, (end - begin) * kCopyChunk);
    std::memset(b->to.get() + begin * kCopyChunk, 1, (end - begin) * kCopyChunk);
  };
  auto copy = [](void *closure, int64_t begin, int64_t end) {
    auto *b = static_cast<Buffers *>(closure);
    std::memcpy(b->to.get() + begin * kCopyChunk, b->from.get() + begin * kCopyChunk,
                (end - begin) * kCopyChunk);
  };
  int64_t chunks = kCopyBytes / kCopyChunk;
  rt::ThreadPool::shared().run(fill, &buffers, chunks, 1, nullptr);
  return 2.0 * kCopyBytes / bestTime(copy, &buffers, chunks);
}

/// `void multiply_add(ptr cells)`: `kSteps` multiply-adds of each of `kChains` vectors; `cells`
/// holds the factor and the summand, and takes the sum so that nothing is left out.
std::unique_ptr<llvm::Module> multiplyAddLoop(llvm::LLVMContext &context, llvm::Type *element,
                                              unsigned lanes) {
  auto module = std::make_unique<llvm::Module>("peak", context);
  llvm::IRBuilder<> b(context);
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto *function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "multiply_add", *module);
  auto *entry = llvm::BasicBlock::Create(context, "entry", function);
  auto *loop = llvm::BasicBlock::Create(context, "loop", function);
  auto *exit = llvm::BasicBlock::Create(context, "exit", function);
  auto *vector = llvm::FixedVectorType::get(element, lanes);
  b.SetInsertPoint(entry);
  auto cell = [&](unsigned number) {
    return b.CreateLoad(element, b.CreateConstGEP1_64(element, function->getArg(0), number));
  };
  llvm::Value *factor = b.CreateVectorSplat(lanes, cell(0));
  llvm::Value *summand = b.CreateVectorSplat(lanes, cell(1));
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto *step = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::SmallVector<llvm::PHINode *> sums;
  for (unsigned i = 0; i < kChains; ++i) {
    sums.push_back(b.CreatePHI(vector, 2));
    sums.back()->addIncoming(llvm::ConstantFP::get(vector, i), entry);
  }
  llvm::Value *total = llvm::ConstantFP::get(vector, 0);
  for (llvm::PHINode *sum : sums)
    sum->addIncoming(b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {vector}, {sum, factor, summand}),
                     loop);
  llvm::Value *next = b.CreateAdd(step, b.getInt64(1));
  step->addIncoming(b.getInt64(0), entry);
  step->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpSLT(next, b.getInt64(kSteps)), loop, exit);
  b.SetInsertPoint(exit);
  for (llvm::PHINode *sum : sums)
    total = b.CreateFAdd(total, sum->getIncomingValue(1));
  b.CreateStore(b.CreateExtractElement(total, uint64_t(0)),
                b.CreateConstGEP1_64(element, function->getArg(0), 2));
  b.CreateRetVoid();
  return module;
}

template <typename Number> double multiplyAddRate(const cpu::Processor &processor) {
  auto context = std::make_unique<llvm::LLVMContext>();
  unsigned lanes = static_cast<unsigned>(processor.vectors.bytes) / sizeof(Number);
  llvm::Type *element = sizeof(Number) == sizeof(float) ? llvm::Type::getFloatTy(*context)
                                                        : llvm::Type::getDoubleTy(*context);
  std::unique_ptr<llvm::Module> module = multiplyAddLoop(*context, element, lanes);
  auto code = cpu::JitCode::create(std::move(context), std::move(module), processor, {});
  if (!code) {
    llvm::consumeError(code.takeError());
    return 0;
  }
  using Function = void (*)(Number *);
  auto *function = reinterpret_cast<Function>(code->lookup("multiply_add"));
  if (!function)
    return 0;
  auto body = [](void *closure, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Number cells[3] = {Number(0.5), Number(1), Number(0)}; // Tends to 2: no slow numbers.
      (*static_cast<Function *>(closure))(cells);
    }
  };
  int64_t count = rt::ThreadPool::shared().threadCount() * 4;
  double flops = 2.0 * kSteps * kChains * lanes * static_cast<double>(count);
  return flops / bestTime(body, &function, count);
}

} // namespace

MachinePeaks measurePeaks(const cpu::Processor &processor) {
  MachinePeaks peaks;
  peaks.bytes = copyRate();
  peaks.flops = multiplyAddRate<float>(processor);
  peaks.doubleFlops = multiplyAddRate<double>(processor);
  return peaks;
}

} // namespace ptl
