#include "runtime/context.h"

#include "runtime/arena.h"
#include "runtime/format_value.h"
#include "runtime/pool.h"
#include "runtime/program.h"

#include <cstdio>
#include <cstdlib>

using namespace ptl::rt;

/// Precedes each block of `ptl_rt_alloc`, so that leftovers can be found; keeps the alignment.
struct alignas(PTL_RT_ALIGNMENT) Allocation {
  Allocation *previous;
  Allocation *next;
};

namespace {

struct LoopClosure {
  PtlContext *context;
  PtlBody body;
  void *closure;
};

void runChunk(void *opaque, int64_t begin, int64_t end) {
  auto *loop = static_cast<LoopClosure *>(opaque);
  Arena &arena = Arena::ofThread();
  int64_t mark = arena.mark();
  loop->body(loop->context, begin, end, loop->closure);
  arena.release(mark);
}

void failMemory(PtlContext *context, int64_t bytes) {
  PtlValue value{PTL_VALUE_SCALAR, PTL_INT, {}};
  value.as.scalar.i64 = bytes;
  ptl_rt_fail(context, PTL_ERROR_MEMORY, nullptr, 0, "cannot allocate {0} bytes", &value, 1);
}

} // namespace

PtlContext::PtlContext(ThreadPool &threads) : pool(&threads) {}

PtlContext::~PtlContext() {
  while (allocations) {
    Allocation *next = allocations->next;
    std::free(allocations);
    allocations = next;
  }
}

void ptl_rt_parallel_for(PtlContext *context, PtlBody body, int64_t count, void *closure,
                         int64_t grain) {
  LoopClosure loop{context, body, closure};
  context->pool->run(runChunk, &loop, count, grain, &context->status);
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

void *ptl_rt_alloc(PtlContext *context, int64_t bytes) {
  // The sum cannot overflow: a size near the limit is refused by allocateAligned.
  bool sane = bytes >= 0 && bytes <= INT64_MAX - int64_t(sizeof(Allocation));
  void *memory = sane ? allocateAligned(bytes + int64_t(sizeof(Allocation))) : nullptr;
  if (!memory) {
    failMemory(context, bytes);
    return nullptr;
  }
  auto *header = static_cast<Allocation *>(memory);
  std::lock_guard lock(context->mutex);
  header->previous = nullptr;
  header->next = context->allocations;
  if (header->next)
    header->next->previous = header;
  context->allocations = header;
  return header + 1;
}

void ptl_rt_free(PtlContext *context, void *memory) {
  if (!memory)
    return;
  auto *header = static_cast<Allocation *>(memory) - 1;
  {
    std::lock_guard lock(context->mutex);
    if (header->next)
      header->next->previous = header->previous;
    if (header->previous)
      header->previous->next = header->next;
    else
      context->allocations = header->next;
  }
  std::free(header);
}

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
