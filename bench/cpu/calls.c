/* Calls of one entry as a program in C makes them, again and again. */
#include "ptl.h"

typedef int32_t (*CallFunction)(const PtlEntry *, const PtlArray *const *, int32_t,
                                const PtlScalar *, int32_t, const PtlDim *, int32_t);

/* Calls `entry` with three arrays of `extent` floats, `count` times; the status of the last call. */
int32_t ptl_bench_calls(CallFunction call, const PtlEntry *entry, float *a, float *b, float *c,
                        int64_t extent, int64_t count) {
  const int64_t stride = 1;
  PtlArray views[] = {{a, 1, &extent, &stride, PTL_F32},
                      {b, 1, &extent, &stride, PTL_F32},
                      {c, 1, &extent, &stride, PTL_F32}};
  const PtlArray *arrays[] = {&views[0], &views[1], &views[2]};
  int32_t status = PTL_OK;
  for (int64_t i = 0; i < count; ++i)
    status = call(entry, arrays, 3, NULL, 0, NULL, 0);
  return status;
}
