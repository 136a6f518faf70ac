/* What the parts of the module `_fast_call` share: one call while it is prepared, and tensors of PyTorch. */
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "runtime/include/ptl.h"

enum { kMaxParams = 32, kMaxDims = 32 };

/* One parameter or output, as `ptl_param` describes it. */
typedef struct {
  PyObject *name;
  int32_t kind, elem, strides;
} Parameter;

/* The arguments of one call while it is prepared. */
typedef struct {
  PtlView views[kMaxParams];
  const PtlArray *arrays[kMaxParams];
  Py_buffer buffers[kMaxParams];
  PtlScalar scalars[kMaxParams];
  PtlDim dims[kMaxDims];
  PyObject *written[kMaxParams]; /* tensors: borrowed */
  PyObject *tensors[kMaxParams]; /* those that are passed: borrowed */
  int tensor_view;               /* the number of the view of the first one */
  int array_count, buffer_count, scalar_count, dim_count, written_count, tensor_count;
} Call;

/* Takes `view` number `array_count`, whose extents and strides (in elements) are filled, as the next array. 1, or 0: it is declined,
 * since the data would have to be copied or are not aligned. */
int ptl_add_view(Call *call, const Parameter *param, void *data, int32_t elem, int rank);

/* --- Tensors of PyTorch, by its Python interface: the one in C++ is another one in each version --- */

/* use_torch(table): tensors are known from then on. `ptl._tensors` says what the table holds. */
PyObject *ptl_use_torch(PyObject *module, PyObject *table);
/* Whether the value is a tensor whose operations nobody has replaced by a subclass. */
int ptl_is_tensor(PyObject *value);
/* 1: the view describes the tensor, whose data stay where they are; 0: declined. */
int ptl_add_tensor(Call *call, const Parameter *param, PyObject *tensor);
/* Whether a call may go past PyTorch's dispatcher: no tensor from number `first` on asks for a gradient, and, for operators, nothing
 * traces or replaces operations. */
int ptl_may_pass(const Call *call, int first, int is_operator);
/* A new tensor for an output, which is the call's next array; NotImplemented: PyTorch has no such type. */
PyObject *ptl_new_tensor(Call *call, const PtlView *shape);
/* The threads that PyTorch may use from here; 0: it was never seen. */
int32_t ptl_torch_threads(void);
/* Tells PyTorch which tensors were written. -1: an error is set. */
int ptl_note_written(const Call *call);
