#include "compile/cost/machine_peaks.h"

#include "compile/cost/best_time.h"
#include "compile/cost/matrix_rate.h"
#include "frontend/base/printed.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

namespace ptl {

namespace {

constexpr int64_t kCopyBytes = int64_t(64) << 20, kCopyChunk = int64_t(1) << 20;
/// Sums in flight: more than the latency of a multiply-add times its rate, and no more than there
/// are registers.
constexpr unsigned kChains = 12;
constexpr int64_t kSteps = 200'000;
constexpr unsigned kReadsAtOnce = 8; ///< vectors: more than one load waits for memory
/// Two arrays of this part of the last-level cache are in it, and not in those before it.
constexpr int64_t kShareOfCache = 6;

/// Two arrays that are filled, so that their pages are there.
struct Buffers {
  explicit Buffers(int64_t bytes)
      : bytes(bytes), chunks(bytes / kCopyChunk), from(make(bytes)), to(make(bytes)) {
    // The threads that copy fill the pages, so that these lie in their memory.
    auto fill = [](void *closure, int64_t begin, int64_t end) {
      auto *b = static_cast<Buffers *>(closure);
      std::memset(b->from.get() + begin * kCopyChunk, 1, (end - begin) * kCopyChunk);
      std::memset(b->to.get() + begin * kCopyChunk, 1, (end - begin) * kCopyChunk);
    };
    if (isThere())
      rt::ThreadPool::shared().run(fill, this, chunks, 1, nullptr);
  }
  bool isThere() const { return from && to; }

  struct Release {
    void operator()(char *memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<char[], Release>;
  /// Stores past the caches need vectors at multiples of their size.
  static Memory make(int64_t bytes) {
    return Memory(static_cast<char *>(std::aligned_alloc(64, static_cast<size_t>(bytes))));
  }

  int64_t bytes, chunks;
  Memory from, to;
};

/// The size of the cache with that number in the order in which Linux lists those of the first core; 0: there is none.
int64_t listedCache(int number) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(number) + "/size");
  int64_t size = 0;
  char unit = 0;
  if (!(file >> size))
    return 0;
  file >> unit;
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

int64_t lastLevelCache() {
  // The first two entries are the caches of the first level.
  for (int number = 4; number >= 2; --number)
    if (int64_t size = listedCache(number); size > 0)
      return size;
  return 0;
}

/// What one step does with a vector of sums.
enum class Step : uint8_t {
  Floats,     ///< of `f32`
  Doubles,    ///< of `f64`
  Bf16Pairs,  ///< `f32` sums of pairs of `bf16`
  ByteQuads,  ///< `i32` sums of four products of bytes
  I16Pairs,   ///< `i32` sums of pairs of `i16`
  I16Products ///< the same by a multiplication and an addition
};

// A product that does not depend on the sum would be taken out of the loop.
llvm::Value *addProducts(llvm::IRBuilder<> &b, llvm::Value *sum, llvm::Value *factor) {
  auto *type = llvm::cast<llvm::FixedVectorType>(sum->getType());
  unsigned lanes = type->getNumElements();
  llvm::Intrinsic::ID multiply = lanes == 16  ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
                                 : lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd
                                              : llvm::Intrinsic::x86_sse2_pmadd_wd;
  auto *pairs = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
  llvm::Value *product = b.CreateIntrinsic(
      multiply, {}, {b.CreateBitCast(sum, pairs), b.CreateBitCast(factor, pairs)});
  return b.CreateAdd(sum, product);
}

bool isWide(const llvm::Value *sum) {
  return llvm::cast<llvm::FixedVectorType>(sum->getType())->getNumElements() == 16;
}

/// Products that one step adds to each sum.
unsigned productsOf(Step step) {
  switch (step) {
  case Step::Floats:
  case Step::Doubles:
    return 1;
  case Step::ByteQuads:
    return 4;
  default:
    return 2;
  }
}

llvm::Value *stepOf(llvm::IRBuilder<> &b, Step step, llvm::Value *sum, llvm::Value *factor,
                    llvm::Value *summand) {
  switch (step) {
  case Step::Bf16Pairs:
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                             {sum, factor, factor});
  case Step::ByteQuads:
    return b.CreateIntrinsic(isWide(sum) ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                                         : llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                             {}, {sum, factor, factor});
  case Step::I16Pairs:
    return b.CreateIntrinsic(isWide(sum) ? llvm::Intrinsic::x86_avx512_vpdpwssd_512
                                         : llvm::Intrinsic::x86_avx512_vpdpwssd_256,
                             {}, {sum, factor, factor});
  case Step::I16Products:
    return addProducts(b, sum, factor);
  default:
    return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sum->getType()}, {sum, factor, summand});
  }
}

/// `void multiply_add(ptr cells)`: `kSteps` multiply-adds of each of `kChains` vectors; `cells`
/// holds the factor and the summand, and takes the sum so that nothing is left out.
std::unique_ptr<llvm::Module> multiplyAddLoop(llvm::LLVMContext &context, Step kind,
                                              unsigned bytes) {
  auto module = std::make_unique<llvm::Module>("peak", context);
  llvm::IRBuilder<> b(context);
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto *function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "multiply_add", *module);
  auto *entry = llvm::BasicBlock::Create(context, "entry", function);
  auto *loop = llvm::BasicBlock::Create(context, "loop", function);
  auto *exit = llvm::BasicBlock::Create(context, "exit", function);
  bool integers = kind == Step::ByteQuads || kind == Step::I16Pairs || kind == Step::I16Products;
  llvm::Type *element = kind == Step::Doubles ? b.getDoubleTy()
                        : integers            ? static_cast<llvm::Type *>(b.getInt32Ty())
                                              : b.getFloatTy();
  unsigned lanes = bytes / (element->getPrimitiveSizeInBits() / 8);
  auto *vector = llvm::FixedVectorType::get(element, lanes);
  b.SetInsertPoint(entry);
  auto cell = [&](unsigned number) -> llvm::Value * {
    return b.CreateVectorSplat(
        lanes, b.CreateLoad(element, b.CreateConstGEP1_64(element, function->getArg(0), number)));
  };
  llvm::Value *factor = cell(0), *summand = cell(1);
  if (kind == Step::Bf16Pairs)
    factor = b.CreateBitCast(factor, llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes));
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto *step = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::SmallVector<llvm::PHINode *> sums;
  // Chains begin with different numbers, or the compiler would make one of them.
  for (unsigned i = 0; i < kChains; ++i) {
    sums.push_back(b.CreatePHI(vector, 2));
    llvm::Constant *start = element->isIntegerTy() ? llvm::ConstantInt::get(vector, i)
                                                   : llvm::ConstantFP::get(vector, i);
    sums.back()->addIncoming(start, entry);
  }
  for (llvm::PHINode *sum : sums)
    sum->addIncoming(stepOf(b, kind, sum, factor, summand), loop);
  llvm::Value *next = b.CreateAdd(step, b.getInt64(1));
  step->addIncoming(b.getInt64(0), entry);
  step->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpSLT(next, b.getInt64(kSteps)), loop, exit);
  b.SetInsertPoint(exit);
  // All sums take part in the result, so that none is left out.
  llvm::Value *total = sums.front()->getIncomingValue(1);
  for (llvm::PHINode *sum : llvm::drop_begin(sums)) {
    llvm::Value *one = sum->getIncomingValue(1);
    total = element->isIntegerTy() ? b.CreateAdd(total, one) : b.CreateFAdd(total, one);
  }
  b.CreateStore(b.CreateExtractElement(total, uint64_t(0)),
                b.CreateConstGEP1_64(element, function->getArg(0), 2));
  b.CreateRetVoid();
  return module;
}

/// What a loop over memory does.
enum class Pass : uint8_t {
  Read,  ///< adds up all vectors, so that none is left out
  Copy,  ///< as far as a cache holds both arrays
  Stream ///< copies past the caches
};

/// `void pass(ptr from, ptr to, i64 bytes)` over a piece, whose size is a multiple of `kReadsAtOnce` vectors and more. The C library's copies are no limit: they
/// read the lines that they write, up to sizes that it decides, which takes twice as long.
std::unique_ptr<llvm::Module> passLoop(llvm::LLVMContext &context, Pass pass, unsigned bytes) {
  auto module = std::make_unique<llvm::Module>("peak", context);
  llvm::IRBuilder<> b(context);
  auto *type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false);
  auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "pass", *module);
  auto *entry = llvm::BasicBlock::Create(context, "entry", function);
  auto *loop = llvm::BasicBlock::Create(context, "loop", function);
  auto *exit = llvm::BasicBlock::Create(context, "exit", function);
  auto *vector = llvm::FixedVectorType::get(b.getInt64Ty(), bytes / 8);
  b.SetInsertPoint(entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto *offset = b.CreatePHI(b.getInt64Ty(), 2);
  offset->addIncoming(b.getInt64(0), entry);
  llvm::SmallVector<llvm::PHINode *> sums;
  for (unsigned i = 0; pass == Pass::Read && i < kReadsAtOnce; ++i) {
    sums.push_back(b.CreatePHI(vector, 2));
    sums.back()->addIncoming(llvm::ConstantInt::get(vector, 0), entry);
  }
  for (unsigned i = 0; i < kReadsAtOnce; ++i) {
    llvm::Value *at = b.CreateAdd(offset, b.getInt64(uint64_t(i) * bytes));
    llvm::Value *value = b.CreateAlignedLoad(
        vector, b.CreateGEP(b.getInt8Ty(), function->getArg(0), at), llvm::Align(bytes));
    if (pass == Pass::Read) {
      sums[i]->addIncoming(b.CreateAdd(sums[i], value), loop);
      continue;
    }
    llvm::StoreInst *store = b.CreateAlignedStore(
        value, b.CreateGEP(b.getInt8Ty(), function->getArg(1), at), llvm::Align(bytes));
    if (pass == Pass::Stream)
      store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                         llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(b.getInt32(1))));
  }
  llvm::Value *next = b.CreateAdd(offset, b.getInt64(uint64_t(kReadsAtOnce) * bytes));
  offset->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpSLT(next, function->getArg(2)), loop, exit);
  b.SetInsertPoint(exit);
  if (pass == Pass::Read) {
    llvm::Value *total = sums.front()->getIncomingValue(1);
    for (llvm::PHINode *sum : llvm::drop_begin(sums))
      total = b.CreateAdd(total, sum->getIncomingValue(1));
    // Where the sum goes is the only place that is written.
    b.CreateStore(total, function->getArg(1));
  }
  b.CreateRetVoid();
  return module;
}

/// Bytes per second of a pass by the widest vectors; 0 stands for a rate that is not known.
double passRate(const cpu::Processor &processor, Pass pass, Buffers &buffers) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module =
      passLoop(*context, pass, static_cast<unsigned>(processor.vectors.bytes));
  auto code = cpu::JitCode::create(std::move(context), std::move(module), processor, {});
  if (!code) {
    llvm::consumeError(code.takeError());
    return 0;
  }
  using Function = void (*)(const char *, char *, int64_t);
  struct Run {
    Function function;
    Buffers *buffers;
  } run{reinterpret_cast<Function>(code->lookup("pass")), &buffers};
  if (!run.function)
    return 0;
  auto body = [](void *closure, int64_t begin, int64_t end) {
    auto *own = static_cast<Run *>(closure);
    own->function(own->buffers->from.get() + begin * kCopyChunk,
                  own->buffers->to.get() + begin * kCopyChunk, (end - begin) * kCopyChunk);
  };
  // Of a copy each byte is read once and written once.
  double moved = static_cast<double>(buffers.bytes) * (pass == Pass::Read ? 1 : 2);
  return moved / bestTime(body, &run, buffers.chunks);
}

double multiplyAddRate(const cpu::Processor &processor, Step step) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto bytes = static_cast<unsigned>(processor.vectors.bytes);
  std::unique_ptr<llvm::Module> module = multiplyAddLoop(*context, step, bytes);
  auto code = cpu::JitCode::create(std::move(context), std::move(module), processor, {});
  if (!code) {
    llvm::consumeError(code.takeError());
    return 0;
  }
  using Function = void (*)(void *);
  struct Run {
    Function function;
    Step step;
  } run{reinterpret_cast<Function>(code->lookup("multiply_add")), step};
  if (!run.function)
    return 0;
  auto body = [](void *closure, int64_t begin, int64_t end) {
    auto *own = static_cast<Run *>(closure);
    for (int64_t i = begin; i < end; ++i) {
      float cells[3] = {0.5f, 1, 0}; // Tends to 2: no slow numbers.
      double doubles[3] = {0.5, 1, 0};
      own->function(own->step == Step::Doubles ? static_cast<void *>(doubles) : cells);
    }
  };
  // Some more pieces than threads let a slow thread do fewer.
  int64_t count = rt::ThreadPool::shared().threadCount() * 4;
  unsigned products = bytes / (step == Step::Doubles ? 8 : 4) * productsOf(step);
  double flops = 2.0 * kSteps * kChains * products * static_cast<double>(count);
  return flops / bestTime(body, &run, count);
}

} // namespace

MachinePeaks measurePeaks(const cpu::Processor &processor) {
  MachinePeaks peaks;
  if (Buffers buffers(kCopyBytes); buffers.isThere()) {
    peaks.bytes = passRate(processor, Pass::Stream, buffers);
    peaks.readBytes = passRate(processor, Pass::Read, buffers);
  }
  peaks.cacheSize = lastLevelCache();
  if (int64_t part = peaks.cacheSize / kShareOfCache / kCopyChunk * kCopyChunk; part > 0)
    if (Buffers buffers(part); buffers.isThere()) {
      peaks.cacheBytes = passRate(processor, Pass::Copy, buffers);
      peaks.cacheReadBytes = passRate(processor, Pass::Read, buffers);
    }
  peaks.flops = multiplyAddRate(processor, Step::Floats);
  peaks.doubleFlops = multiplyAddRate(processor, Step::Doubles);
  bool hasWide = processor.vectors.bytes == 64;
  // A type without instructions of its own is multiplied in a wider one, at the rate of that.
  peaks.bf16Flops = hasWide && processor.vectors.bf16Pairs
                        ? multiplyAddRate(processor, Step::Bf16Pairs)
                        : peaks.flops;
  const cpu::VectorUnit &unit = processor.vectors;
  peaks.pairFlops = unit.i16DotBytes == unit.bytes ? multiplyAddRate(processor, Step::I16Pairs)
                    : unit.i16PairBytes == unit.bytes
                        ? multiplyAddRate(processor, Step::I16Products)
                        : peaks.flops;
  peaks.byteFlops = unit.byteDotBytes == unit.bytes ? multiplyAddRate(processor, Step::ByteQuads)
                                                    : peaks.pairFlops;
  peaks.halfFlops = std::max(peaks.flops, matrixRate(processor, MatrixProduct::F16));
  peaks.bf16Flops = std::max(peaks.bf16Flops, matrixRate(processor, MatrixProduct::Bf16));
  peaks.byteFlops = std::max(peaks.byteFlops, matrixRate(processor, MatrixProduct::Bytes));
  return peaks;
}

const MachinePeaks &hostPeaks() {
  // Measuring takes some tenths of a second, and the machine stays the same.
  static const MachinePeaks peaks = measurePeaks(cpu::Processor::host());
  return peaks;
}

std::string peaksText(const MachinePeaks &peaks) {
  if (peaks.bytes <= 0)
    return "";
  std::string text = printed("this machine: %.1f GB/s of memory, %.1f GFLOP/s in f32, %.1f in f64",
                             peaks.bytes * 1e-9, peaks.flops * 1e-9, peaks.doubleFlops * 1e-9);
  if (peaks.cacheBytes > 0)
    text += printed(", %.1f GB/s of the last-level cache", peaks.cacheBytes * 1e-9);
  return text;
}

} // namespace ptl
