/* A library as the compiler makes them, by hand: what the tests of calls load. */
#include "runtime/abi/kernel_abi.h"

#define TEXT(...) #__VA_ARGS__

PTL_API const char ptl_manifest[] = TEXT({
  "ptl_abi" : 1,
  "source" : "sample.ptl",
  "entries" : [
    {
      "name" : "double_rows",
      "kind" : "kernel",
      "file" : "sample.ptl",
      "line" : 3,
      "signature" : "kernel double_rows[R, static C](x: f32[R, C]) -> (y: f32[R, C])",
      "doc" : "Twice the input.",
      "dims" : [ "R", {"name" : "C", "static" : true} ],
      "params" : [ {"name" : "x", "elem" : "f32", "shape" : [ "R", "C" ]} ],
      "outputs" : [ {"name" : "y", "elem" : "f32", "shape" : [ "R", "C" ]} ],
      "variants" : [
        {"symbol" : "double_rows_any", "static" : {"C" : 4}},
        {"symbol" : "double_rows_any", "static" : {"C" : 8}}
      ]
    },
    {
      "name" : "widen",
      "kind" : "fn",
      "file" : "sample.ptl",
      "line" : 9,
      "signature" : "fn widen[C, T: float](x: T[.., C]) -> T[.., 2*C + 1]",
      "types" : ["T"],
      "dims" : ["C"],
      "params" : [ {"name" : "x", "elem" : "T", "shape" : [ "..", "C" ]} ],
      "outputs" : [
        {"name" : "result", "elem" : "T", "shape" : [ "..", {"add" : [ {"mul" : [ 2, "C" ]}, 1 ]} ]}
      ],
      "variants" : [
        {"symbol" : "widen_f32", "elems" : {"T" : "f32"}, "leading" : 1},
        {"symbol" : "widen_f32", "elems" : {"T" : "f32"}, "leading" : 2}
      ]
    },
    {
      "name" : "scale",
      "kind" : "kernel",
      "file" : "sample.ptl",
      "line" : 20,
      "signature" : "kernel scale[N, S](x: inout f32[N] strides [S], factor: f32, shift: int)",
      "dims" : [ "N", "S" ],
      "params" : [
        {"name" : "x", "elem" : "f32", "shape" : ["N"], "strides" : ["S"], "inout" : true},
        {"name" : "factor", "elem" : "f32"}, {"name" : "shift", "elem" : "int"}
      ],
      "wheres" : [
        {"text" : "N % 4 == 0", "line" : 21, "expr" : {"eq" : [ {"mod" : [ "N", 4 ]}, 0 ]}},
        {"text" : "factor > 0.0", "line" : 22, "expr" : {"gt" : [ "factor", {"float" : 0.0} ]}}
      ],
      "variants" : [ {"symbol" : "scale_any"} ]
    },
    {
      "name" : "gather",
      "kind" : "kernel",
      "file" : "sample.ptl",
      "line" : 30,
      "signature" : "kernel gather[N, V](table: f64[V], idx: i32[N]) -> (y: f64[N])",
      "dims" : [ "N", "V" ],
      "params" : [
        {"name" : "table", "elem" : "f64", "shape" : ["V"]},
        {"name" : "idx", "elem" : "i32", "shape" : ["N"]}
      ],
      "outputs" : [ {"name" : "y", "elem" : "f64", "shape" : ["N"]} ],
      "wheres" : [
        {
          "text" : "all(idx < V)",
          "line" : 31,
          "expr" : {"all" : {"array" : "idx", "holds" : {"lt" : [ {"elem" : "idx"}, "V" ]}}}
        },
        {"text" : "unique(idx)", "line" : 31, "expr" : {"unique" : "idx"}},
        {"text" : "sorted(idx)", "line" : 31, "expr" : {"sorted" : "idx"}}
      ],
      "variants" : [ {"symbol" : "gather_any"} ]
    },
    {
      "name" : "fill",
      "kind" : "kernel",
      "file" : "sample.ptl",
      "line" : 40,
      "signature" : "kernel fill[N](value: i64) -> (y: i64[N])",
      "dims" : ["N"],
      "params" : [ {"name" : "value", "elem" : "i64"} ],
      "outputs" : [ {"name" : "y", "elem" : "i64", "shape" : ["N"]} ],
      "variants" : [ {"symbol" : "fill_any"} ]
    }
  ]
});

static int64_t count(const PtlArray *array) {
  int64_t total = 1;
  for (int64_t axis = 0; axis < array->rank; ++axis)
    total *= array->extents[axis];
  return total;
}

static void doubleSome(PtlContext *context, int64_t begin, int64_t end, void *closure) {
  const PtlArray *const *arrays = (const PtlArray *const *)closure;
  const float *x = (const float *)arrays[0]->data;
  float *scratch = (float *)ptl_rt_scratch(context, (end - begin) * (int64_t)sizeof(float));
  float *y = (float *)arrays[1]->data;
  for (int64_t i = begin; i < end; ++i)
    scratch[i - begin] = x[i];
  for (int64_t i = begin; i < end; ++i)
    y[i] = 2 * scratch[i - begin];
}

PTL_API int32_t double_rows_any(PtlContext *context, const PtlArray *const *arrays,
                                const int64_t *dims, const PtlScalar *scalars) {
  (void)scalars;
  ptl_rt_parallel_for(context, doubleSome, dims[0] * dims[1], (void *)arrays, 16);
  return ptl_rt_status(context);
}

PTL_API int32_t widen_f32(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
                          const PtlScalar *scalars) {
  (void)context, (void)scalars;
  int64_t inner = dims[arrays[0]->rank - 1];
  const float *x = (const float *)arrays[0]->data;
  float *y = (float *)arrays[1]->data;
  for (int64_t i = 0; i < count(arrays[1]); ++i) {
    int64_t row = i / (2 * inner + 1), column = i % (2 * inner + 1);
    y[i] = column < inner ? x[row * inner + column] : -1;
  }
  return 0;
}

PTL_API int32_t scale_any(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
                          const PtlScalar *scalars) {
  float *x = (float *)arrays[0]->data;
  for (int64_t i = 0; i < dims[0]; ++i) {
    float value = x[i * dims[1]];
    if (value != value) {
      PtlValue values[2] = {{PTL_VALUE_SCALAR, PTL_INT, {{0}}}, {PTL_VALUE_SCALAR, PTL_F32, {{0}}}};
      values[0].as.scalar.i64 = i;
      values[1].as.scalar.f32 = value;
      ptl_rt_fail(context, PTL_ERROR_ASSERT, "sample.ptl", 24, "x[{0}] is {1}", values, 2);
      return ptl_rt_status(context);
    }
    x[i * dims[1]] = value * scalars[0].f32 + (float)scalars[1].i64;
  }
  return 0;
}

PTL_API int32_t gather_any(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
                           const PtlScalar *scalars) {
  (void)scalars;
  double *copy = (double *)ptl_rt_alloc(context, dims[0] * (int64_t)sizeof(double));
  if (!copy)
    return ptl_rt_status(context);
  for (int64_t i = 0; i < dims[0]; ++i)
    copy[i] = ((const double *)arrays[0]->data)[((const int32_t *)arrays[1]->data)[i]];
  for (int64_t i = 0; i < dims[0]; ++i)
    ((double *)arrays[2]->data)[i] = copy[i];
  ptl_rt_free(context, copy);
  return 0;
}

PTL_API int32_t fill_any(PtlContext *context, const PtlArray *const *arrays, const int64_t *dims,
                         const PtlScalar *scalars) {
  (void)context;
  for (int64_t i = 0; i < dims[0]; ++i)
    ((int64_t *)arrays[0]->data)[i] = scalars[0].i64;
  return 0;
}
