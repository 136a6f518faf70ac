#include "runtime/context.h"

#include "runtime/arena.h"
#include "runtime/block_pool.h"
#include "runtime/cache_size.h"
#include "runtime/format_value.h"
#include "runtime/program.h"
#include "runtime/recorder.h"
#include "runtime/schedule/pool.h"

#include <cstdio>
#include <cstdlib>

using namespace ptl::rt;

/// Precedes each block of `ptl_rt_alloc`, so that leftovers can be found; keeps the alignment.
struct alignas(PTL_RT_ALIGNMENT) Allocation {
  Allocation *previous;
  Allocation *next;
  int64_t capacity; ///< with this
};

namespace {

struct LoopClosure {
  PtlContext *context;
  PtlBody body;
  void *closure;
  uint64_t number = 0; ///< for the recorder
};

void runChunk(void *opaque, int64_t begin, int64_t end) {
  auto *loop = static_cast<LoopClosure *>(opaque);
  Arena &arena = Arena::ofThread();
  int64_t mark = arena.mark();
  Recorder *recorder = loop->number != 0 ? loop->context->recorder : nullptr;
  int64_t start = recorder ? recorder->now() : 0;
  loop->body(loop->context, begin, end, loop->closure);
  if (recorder)
    recorder->addSpan(loop->number, begin, end, start, recorder->now());
  arena.release(mark);
}

void failMemory(PtlContext *context, int64_t bytes) {
  PtlValue value{PTL_VALUE_SCALAR, PTL_INT, {}};
  value.as.scalar.i64 = bytes;
  ptl_rt_fail(context, PTL_ERROR_MEMORY, nullptr, 0, "cannot allocate {0} bytes", &value, 1);
}

} // namespace

PtlContext::PtlContext(ThreadPool &threads)
    : streamedFrom(streamedFromBytes()), pool(&threads), recorder(Recorder::ofThread()) {
  if (recorder)
    recorder->begin();
}

PtlContext::~PtlContext() {
  while (allocations) {
    Allocation *next = allocations->next;
    BlockPool::shared().giveBack(allocations, allocations->capacity);
    allocations = next;
  }
}

void ptl_rt_parallel_for(PtlContext *context, PtlBody body, int64_t count, void *closure,
                         int64_t grain) {
  LoopClosure loop{context, body, closure};
  context->pool->run(runChunk, &loop, count, grain, &context->status);
}

void ptl_rt_grid(PtlContext *context, PtlBody body, int64_t count, void *closure,
                 const PtlPlace *place) {
  LoopClosure loop{context, body, closure};
  if (context->recorder && count > 0)
    loop.number = context->recorder->addTask(place, count, nullptr, 0, true);
  context->pool->run(runChunk, &loop, count, 0, &context->status);
}

// An exclusive access takes ten times as long as one of a thread that is alone, and longer where threads take lines from each other.
static constexpr int kThreadsThatWait = 4;

void ptl_rt_grid_combining(PtlContext *context, PtlBody body, int64_t count, void *closure,
                           const PtlPlace *place) {
  if (context->pool->threadCount() > kThreadsThatWait)
    return ptl_rt_grid(context, body, count, closure, place);
  int before = ThreadPool::limitThreads(1);
  ptl_rt_grid(context, body, count, closure, place);
  ThreadPool::limitThreads(before);
}

int32_t ptl_rt_thread_count(PtlContext *context) { return context->pool->threadCount(); }

int32_t ptl_rt_thread_index(PtlContext *) { return ThreadPool::threadIndex(); }

void *ptl_rt_scratch(PtlContext *context, int64_t bytes) {
  void *memory = Arena::ofThread().allocate(bytes);
  if (!memory)
    failMemory(context, bytes);
  return memory;
}

int64_t ptl_rt_scratch_mark(PtlContext *) { return Arena::ofThread().mark(); }

void ptl_rt_scratch_release(PtlContext *, int64_t mark) { Arena::ofThread().release(mark); }

void *PtlContext::allocate(int64_t bytes) {
  // The sum cannot overflow: a size near the limit is refused by allocateAligned.
  bool sane = bytes >= 0 && bytes <= INT64_MAX - int64_t(sizeof(Allocation));
  int64_t capacity = 0;
  void *memory =
      sane ? BlockPool::shared().take(bytes + int64_t(sizeof(Allocation)), capacity) : nullptr;
  if (!memory) {
    failMemory(this, bytes);
    return nullptr;
  }
  auto *header = static_cast<Allocation *>(memory);
  std::lock_guard lock(mutex);
  header->previous = nullptr;
  header->next = allocations;
  header->capacity = capacity;
  if (header->next)
    header->next->previous = header;
  allocations = header;
  return header + 1;
}

void PtlContext::free(void *memory) {
  if (!memory)
    return;
  // The header stands in front of what the caller sees, and the blocks of a call are linked so that
  // all of them go if the call fails.
  auto *header = static_cast<Allocation *>(memory) - 1;
  {
    std::lock_guard lock(mutex);
    if (header->next)
      header->next->previous = header->previous;
    if (header->previous)
      header->previous->next = header->next;
    else
      allocations = header->next;
  }
  BlockPool::shared().giveBack(header, header->capacity);
}

int64_t PtlContext::bytesOf(const void *memory) {
  return memory ? (static_cast<const Allocation *>(memory) - 1)->capacity : 0;
}

void PtlContext::forgetFailure() {
  std::lock_guard lock(mutex);
  failure = {};
  status.store(PTL_OK, std::memory_order_release);
}

void *ptl_rt_alloc(PtlContext *context, int64_t bytes) {
  bool isOfProgram = context->program && ProgramRun::isProgramCode();
  return isOfProgram ? context->program->allocate(bytes) : context->allocate(bytes);
}

void ptl_rt_free(PtlContext *context, void *memory) { context->free(memory); }

void ptl_rt_fail(PtlContext *context, int32_t code, const char *file, int32_t line,
                 const char *message, const PtlValue *values, int32_t valueCount) {
  uint64_t order = context->program ? context->program->failAt() : 0;
  std::lock_guard lock(context->mutex);
  if (context->failure && context->failure.order <= order)
    return;
  context->failure = {code == PTL_OK ? int32_t(PTL_ERROR_ASSERT) : code,
                      formatMessage(message ? message : "", values, valueCount), file ? file : "",
                      line, order};
  context->status.store(context->failure.code, std::memory_order_release);
}

int32_t ptl_rt_status(const PtlContext *context) {
  return context->status.load(std::memory_order_acquire);
}

void ptl_rt_print(PtlContext *context, const PtlValue *values, int32_t valueCount) {
  std::string line;
  for (int32_t i = 0; i < valueCount; ++i)
    line += (i ? " " : "") + formatValue(values[i]);
  line += '\n';
  std::lock_guard lock(context->mutex);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}
