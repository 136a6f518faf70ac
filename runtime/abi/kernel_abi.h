/* kernel_abi.h: what compiled PTL code looks like and what it may call.  C11 and C++.
 *
 * An entry (one per variant, its symbol named in the manifest) has the type PtlEntryFn:
 *   arrays   array parameters in declaration order (inouts among them), then the outputs
 *   dims     first the extents that `..` stands for, if the entry has it, leading one first;
 *            then every dimension of the manifest's `dims`, in that order, statics included
 *   scalars  scalar parameters in declaration order
 * It returns 0, or the code of the failure that `ptl_rt_fail` recorded. When it is called, rank,
 * element types, strides, alignment, shapes, `where`s and overlap have been checked. Extents may
 * be zero.
 *
 * Failing never unwinds: `ptl_rt_fail` records (the first failure of a call wins) and returns, and
 * compiled code leaves by itself. The first 32 bits of a context are its status: 0 while nothing
 * has failed. Code may load them (relaxed) in long loops; an entry loads and returns them at its
 * end.
 */
#ifndef PTL_KERNEL_ABI_H
#define PTL_KERNEL_ABI_H

#include "runtime/include/ptl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PtlContext PtlContext;

typedef int32_t (*PtlEntryFn)(PtlContext *context, const PtlArray *const *arrays,
                              const int64_t *dims, const PtlScalar *scalars);

/* Alignment of what `ptl_rt_scratch` and `ptl_rt_alloc` return. Arguments of callers are aligned
 * to their element only. */
#define PTL_RT_ALIGNMENT 64

/* Where a context holds, as 64 bits that do not change while an entry runs, how many bytes an array has at least whose elements
 * should be stored past the caches: it would not stay in them. Code that stores so ends each body with a fence, since the
 * runtime's own order between bodies does not hold such stores back. The number is never smaller than PTL_RT_LEAST_STREAMED,
 * unless somebody who tests has set it. */
#define PTL_RT_STREAMED_FROM 8
#define PTL_RT_LEAST_STREAMED 65536

/* --- Parallel loops ------------------------------------------------------------------------- */

/* Runs [begin, end) of the iterations. Scratch it allocates is released when it returns. */
typedef void (*PtlBody)(PtlContext *context, int64_t begin, int64_t end, void *closure);

/* Covers 0..count by calls of `body` on chunks of at most `grain` iterations (0: chosen here), on
 * all threads, the caller's among them, in no particular order; returns when all are done. After
 * a failure no further chunk starts. Inside a body it runs in place, in ascending order. */
PTL_API void ptl_rt_parallel_for(PtlContext *context, PtlBody body, int64_t count, void *closure,
                                 int64_t grain);

/* Threads a loop may use, and which of them (0 .. count - 1) this code runs on. */
PTL_API int32_t ptl_rt_thread_count(PtlContext *context);
PTL_API int32_t ptl_rt_thread_index(PtlContext *context);

/* Writes to `tile` how many rows and columns the tiles of `count` matrix products with results of `rows` x `columns` have on these
 * threads: `limits` are the least rows and columns of a larger result, and the most. Never 0. */
PTL_API void ptl_rt_product_tile(PtlContext *context, int64_t rows, int64_t columns, int64_t count,
                                 const int64_t *limits, int64_t *tile);

/* 1 where this process may use the registers of matrices (AMX) of an x86 processor that has them, else 0. The first call asks the
 * system; the answer is that for all threads, and stays. */
PTL_API int32_t ptl_rt_matrix_registers(void);

/* A grid, as the source names it. */
typedef struct PtlPlace {
  const char *name; /* what it makes, or the kernel; never NULL */
  const char *file; /* may be NULL */
  int32_t line, column;
} PtlPlace;

/* A parallel loop over the grid of a kernel. */
PTL_API void ptl_rt_grid(PtlContext *context, PtlBody body, int64_t count, void *closure,
                         const PtlPlace *place);
/* The same for a body that does little but combine elements in memory, alone where `ptl_rt_thread_count` is 1: few threads take longer
 * than one that is. */
PTL_API void ptl_rt_grid_combining(PtlContext *context, PtlBody body, int64_t count, void *closure,
                                   const PtlPlace *place);

/* --- Programs ------------------------------------------------------------------------------- */

/* The body of a program: runs once, submits tasks, and may wait for some of them. */
typedef void (*PtlProgramBody)(PtlContext *context, const PtlArray *const *arrays,
                               const int64_t *dims, const PtlScalar *scalars);

typedef struct PtlProgram {
  PtlProgramBody body;
  int64_t *number; /* a word of the runtime's, 0 at first */
  int32_t dim_count, scalar_count;
  /* 1: the body submits the same for the same dims and scalars, and touches no array itself. It may
   * be called more than once then, and with memory that has only an address. */
  int32_t is_static;
} PtlProgram;

/* Runs a program with its tasks on all threads and returns, when all have run, the status. The
 * functions below are for its body. */
PTL_API int32_t ptl_rt_program(PtlContext *context, const PtlProgram *program,
                               const PtlArray *const *arrays, const int64_t *dims,
                               const PtlScalar *scalars);

/* Submits a task: `body` on 0..count as in a parallel loop, with a copy of the closure. It runs
 * when those earlier tasks have that it depends on by its accesses. An access is a run of words:
 * the address of the storage (as it was allocated, or the array's first element), 0 for reading or
 * 1 for writing, the storage's rank, and per axis start, count and step (positive) of the box. A
 * rank of -1 has no axes and stands for all of the storage. */
PTL_API void ptl_rt_submit(PtlContext *context, PtlBody body, int64_t count, const void *closure,
                           int64_t closure_bytes, const int64_t *accesses, int32_t access_count,
                           const PtlPlace *place);

/* Returns when no unfinished task conflicts with the access. */
PTL_API void ptl_rt_await(PtlContext *context, const int64_t *access);

/* Frees memory of `ptl_rt_alloc` as soon as the tasks submitted so far have done with it. */
PTL_API void ptl_rt_release(PtlContext *context, void *memory);

/* --- Memory --------------------------------------------------------------------------------- */

/* Memory of the calling thread, stack-like, not initialised. It lives until `release` of an earlier
 * mark, the end of the body, or the end of the entry. NULL with a recorded failure when memory runs
 * out or `bytes` is negative; zero bytes give a valid address. */
PTL_API void *ptl_rt_scratch(PtlContext *context, int64_t bytes);
PTL_API int64_t ptl_rt_scratch_mark(PtlContext *context);
PTL_API void ptl_rt_scratch_release(PtlContext *context, int64_t mark);

/* Memory for intermediate arrays of programs, shared by all threads, not initialised. What is not
 * freed when the entry returns (a failed call) is freed then. NULL as above; freeing NULL is legal.
 */
PTL_API void *ptl_rt_alloc(PtlContext *context, int64_t bytes);
PTL_API void ptl_rt_free(PtlContext *context, void *memory);

/* --- Orderings ------------------------------------------------------------------------------ */

/* Writes the first `count` of `length` elements in the order of the language: ascending, or descending if that is not 0; NaN last;
 * equal elements, -0 and 0 among them, in the order that they have. `values` gets the elements, `positions` where they were;
 * either may be NULL. Both are contiguous, as `elements` is, and must not overlap it. */
PTL_API void ptl_rt_order(PtlContext *context, const void *elements, int64_t length, int32_t elem,
                          int32_t descending, int64_t count, void *values, int32_t *positions);

/* --- Failures and output -------------------------------------------------------------------- */

typedef enum PtlValueKind {
  PTL_VALUE_SCALAR = 0,
  PTL_VALUE_TEXT = 1,
  PTL_VALUE_ARRAY = 2
} PtlValueKind;

/* A value for messages, 16 bytes. */
typedef struct PtlValue {
  int32_t kind; /* PtlValueKind */
  int32_t elem; /* of a scalar */
  union {
    PtlScalar scalar;
    const char *text;
    const PtlArray *array;
  } as;
} PtlValue;

/* Records a failure: `code` is a PtlStatus (PTL_ERROR_ASSERT, _BOUNDS, _DATA_FACT, _ARITHMETIC …).
 * In `message`, `{0}`, `{1}` … stand for the values, `{{` for a brace. `file` may be NULL, `line`
 * 0. */
PTL_API void ptl_rt_fail(PtlContext *context, int32_t code, const char *file, int32_t line,
                         const char *message, const PtlValue *values, int32_t value_count);

/* The status: 0, or the code of the recorded failure. */
PTL_API int32_t ptl_rt_status(const PtlContext *context);

/* Writes the values to standard output, a blank between two, a line end after the last; lines of
 * several threads do not mix. Large arrays are shortened. */
PTL_API void ptl_rt_print(PtlContext *context, const PtlValue *values, int32_t value_count);

#ifdef __cplusplus
}
#endif
#endif
