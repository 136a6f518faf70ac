/* The usual call of an entry from Python, without a detour through ctypes: arrays that are buffers (NumPy's are), plain numbers,
 * outputs given or allocated as NumPy arrays. What it does not know (DLPack tensors, arrays that must be copied, bits of bf16,
 * dimensions by name, wrong arguments) it declines, and the module `ptl` goes the long way, which also words the errors.
 *
 * Limited interface of Python 3.11, so one binary serves all later versions. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "runtime/include/ptl.h"

#include <string.h>

enum { kMaxParams = 32 };

typedef int32_t (*CallFunction)(const void *, const PtlArray *const *, int32_t, const PtlScalar *,
                                int32_t, const PtlDim *, int32_t);
typedef int32_t (*InferFunction)(const void *, const PtlArray *const *, int32_t, const PtlScalar *,
                                 int32_t, const PtlDim *, int32_t, PtlView *);

/* One parameter or output, as `ptl_param` describes it. */
typedef struct {
  PyObject *name;
  int32_t kind, elem, strides;
} Parameter;

typedef struct {
  PyObject_HEAD CallFunction call;
  InferFunction infer;
  const void *entry;
  int input_count, output_count;
  Parameter params[kMaxParams]; /* inputs, then outputs */
  PyObject *dtypes;             /* NumPy's types by PtlElem; None where there is none */
  PyObject *empty;              /* numpy.empty */
  PyObject *result;             /* makes what several results are given back as, from a tuple */
  PyObject *fail;               /* raises what the runtime's last error was */
} Caller;

/* The arguments of one call while it is prepared. */
typedef struct {
  PtlView views[kMaxParams];
  const PtlArray *arrays[kMaxParams];
  Py_buffer buffers[kMaxParams];
  PtlScalar scalars[kMaxParams];
  int array_count, buffer_count, scalar_count;
} Call;

/* The element type of a buffer's items; -1: none that PTL has. */
static int32_t elem_of(const Py_buffer *buffer) {
  const char *format = buffer->format ? buffer->format : "B";
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (format[0] == 0 || format[1] != 0)
    return -1;
  switch (*format) {
  case '?':
    return PTL_BOOL;
  case 'e':
    return PTL_F16;
  case 'f':
    return PTL_F32;
  case 'd':
    return PTL_F64;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return buffer->itemsize == 1   ? PTL_I8
           : buffer->itemsize == 2 ? PTL_I16
           : buffer->itemsize == 4 ? PTL_I32
                                   : PTL_I64;
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return buffer->itemsize == 1   ? PTL_U8
           : buffer->itemsize == 2 ? PTL_U16
           : buffer->itemsize == 4 ? PTL_U32
                                   : PTL_U64;
  default:
    return -1;
  }
}

static int holds_bits(int32_t elem) {
  return elem == PTL_BF16 || elem == PTL_F8E4M3 || elem == PTL_F8E5M2;
}

/* 1: the view describes the array; 0: declined. */
static int add_array(Call *call, const Parameter *param, PyObject *value) {
  Py_buffer *buffer = &call->buffers[call->buffer_count];
  int flags = PyBUF_FORMAT | PyBUF_STRIDES | (param->kind == PTL_PARAM_ARRAY ? 0 : PyBUF_WRITABLE);
  if (PyObject_GetBuffer(value, buffer, flags) < 0) {
    PyErr_Clear();
    return 0;
  }
  ++call->buffer_count;
  int32_t elem = elem_of(buffer);
  if (elem < 0 || buffer->ndim > PTL_MAX_RANK || holds_bits(param->elem))
    return 0;
  PtlView *view = &call->views[call->array_count];
  Py_ssize_t expected = buffer->itemsize;
  int dense = 1;
  for (int axis = buffer->ndim - 1; axis >= 0; --axis) {
    Py_ssize_t extent = buffer->shape[axis], step = buffer->strides[axis];
    if (step % buffer->itemsize)
      return 0;
    dense &= extent <= 1 || step == expected;
    view->extents[axis] = extent;
    view->strides[axis] = step / buffer->itemsize;
    expected *= extent ? extent : 1;
  }
  int is_aligned = (uintptr_t)buffer->buf % (uintptr_t)buffer->itemsize == 0;
  if (!is_aligned ||
      (!dense && param->kind == PTL_PARAM_ARRAY && param->strides == PTL_STRIDES_DENSE))
    return 0;
  view->array.data = buffer->buf;
  view->array.rank = buffer->ndim;
  view->array.extents = view->extents;
  view->array.strides = view->strides;
  view->array.elem = elem;
  call->arrays[call->array_count++] = &view->array;
  return 1;
}

/* 1: the cell holds the number; 0: declined. */
static int add_scalar(Call *call, const Parameter *param, PyObject *value) {
  PtlScalar *cell = &call->scalars[call->scalar_count++];
  memset(cell, 0, sizeof *cell);
  if (param->elem == PTL_F32 || param->elem == PTL_F64) {
    if (!PyFloat_Check(value) && !PyLong_CheckExact(value))
      return 0;
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      return 0;
    }
    if (param->elem == PTL_F32)
      cell->f32 = (float)number;
    else
      cell->f64 = number;
    return 1;
  }
  int is_long = param->elem == PTL_I64 || param->elem == PTL_INT;
  if (!PyLong_CheckExact(value) || (!is_long && param->elem != PTL_I32))
    return 0;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow || (!is_long && number != (int32_t)number))
    return 0;
  if (is_long)
    cell->i64 = number;
  else
    cell->i32 = (int32_t)number;
  return 1;
}

/* The arguments by parameter, outputs that are not given as NULL: borrowed. 0: declined. */
static int sort_arguments(const Caller *self, PyObject *args, PyObject *named, PyObject **values) {
  Py_ssize_t given = PyTuple_Size(args);
  if (given > self->input_count)
    return 0;
  Py_ssize_t taken = 0;
  for (int i = 0; i < self->input_count + self->output_count; ++i) {
    values[i] = i < given ? PyTuple_GetItem(args, i) : NULL;
    if (i >= given && named) {
      values[i] = PyDict_GetItemWithError(named, self->params[i].name);
      taken += values[i] != NULL;
    }
    if (!values[i] && i < self->input_count)
      return 0;
  }
  PyErr_Clear();
  return !named || taken == PyDict_Size(named);
}

/* A new NumPy array for an output. */
static PyObject *allocate(const Caller *self, const PtlView *shape) {
  PyObject *extents = PyTuple_New((Py_ssize_t)shape->array.rank);
  if (!extents)
    return NULL;
  for (int64_t axis = 0; axis < shape->array.rank; ++axis)
    PyTuple_SetItem(extents, (Py_ssize_t)axis, PyLong_FromLongLong(shape->extents[axis]));
  PyObject *dtype = PyList_GetItem(self->dtypes, shape->array.elem);
  PyObject *array = dtype ? PyObject_CallFunctionObjArgs(self->empty, extents, dtype, NULL) : NULL;
  Py_DECREF(extents);
  return array;
}

/* Adds the outputs, made where they are not given; owned by `results`. 1, 0: declined, -1: an error is set. */
static int add_outputs(const Caller *self, Call *call, PyObject **values, PyObject **results) {
  PtlView shapes[kMaxParams];
  int missing = 0;
  for (int i = 0; i < self->output_count; ++i)
    missing |= !values[i];
  if (missing) {
    int32_t status = self->infer(self->entry, call->arrays, call->array_count, call->scalars,
                                 call->scalar_count, NULL, 0, shapes);
    if (status)
      return 0;
  }
  for (int i = 0; i < self->output_count; ++i) {
    const Parameter *param = &self->params[self->input_count + i];
    if (!values[i] && holds_bits(shapes[i].array.elem))
      return 0;
    results[i] = values[i] ? Py_NewRef(values[i]) : allocate(self, &shapes[i]);
    if (!results[i])
      return -1;
    if (!add_array(call, param, results[i]))
      return 0;
  }
  return 1;
}

static PyObject *give_back(const Caller *self, PyObject **results) {
  if (self->output_count == 0)
    Py_RETURN_NONE;
  if (self->output_count == 1)
    return Py_NewRef(results[0]);
  PyObject *all = PyTuple_New(self->output_count);
  for (int i = 0; all && i < self->output_count; ++i)
    PyTuple_SetItem(all, i, Py_NewRef(results[i]));
  PyObject *value = all ? PyObject_CallFunctionObjArgs(self->result, all, NULL) : NULL;
  Py_XDECREF(all);
  return value;
}

static PyObject *run(const Caller *self, Call *call, PyObject **values, PyObject **results) {
  for (int i = 0; i < self->input_count; ++i) {
    const Parameter *param = &self->params[i];
    int done = param->kind == PTL_PARAM_SCALAR ? add_scalar(call, param, values[i])
                                               : add_array(call, param, values[i]);
    if (!done)
      return Py_NewRef(Py_NotImplemented);
  }
  int added = add_outputs(self, call, values + self->input_count, results);
  if (added <= 0)
    return added < 0 ? NULL : Py_NewRef(Py_NotImplemented);
  int32_t status;
  PyThreadState *state = PyEval_SaveThread();
  status = self->call(self->entry, call->arrays, call->array_count, call->scalars,
                      call->scalar_count, NULL, 0);
  PyEval_RestoreThread(state);
  if (status)
    return PyObject_CallFunctionObjArgs(self->fail, NULL);
  return give_back(self, results);
}

static PyObject *caller_call(PyObject *object, PyObject *args, PyObject *named) {
  const Caller *self = (const Caller *)object;
  PyObject *values[kMaxParams], *results[kMaxParams] = {NULL};
  if (!sort_arguments(self, args, named, values))
    return Py_NewRef(Py_NotImplemented);
  Call call;
  call.array_count = call.buffer_count = call.scalar_count = 0;
  PyObject *result = run(self, &call, values, results);
  for (int i = 0; i < call.buffer_count; ++i)
    PyBuffer_Release(&call.buffers[i]);
  for (int i = 0; i < self->output_count; ++i)
    Py_XDECREF(results[i]);
  return result;
}

/* Caller(call, infer, entry, params, dtypes, empty, result, fail): addresses as integers, `params` a list of
 * (name, kind, elem, strides), inputs first. */
static int caller_init(PyObject *object, PyObject *args, PyObject *named) {
  Caller *self = (Caller *)object;
  unsigned long long call, infer, entry;
  PyObject *params;
  (void)named;
  if (!PyArg_ParseTuple(args, "KKKOOOOO", &call, &infer, &entry, &params, &self->dtypes,
                        &self->empty, &self->result, &self->fail))
    return -1;
  Py_INCREF(self->dtypes);
  Py_INCREF(self->empty);
  Py_INCREF(self->result);
  Py_INCREF(self->fail);
  self->call = (CallFunction)(uintptr_t)call;
  self->infer = (InferFunction)(uintptr_t)infer;
  self->entry = (const void *)(uintptr_t)entry;
  Py_ssize_t count = PyList_Size(params);
  if (count < 0 || count > kMaxParams) {
    PyErr_SetString(PyExc_ValueError, "too many parameters");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    Parameter *param = &self->params[i];
    if (!PyArg_ParseTuple(PyList_GetItem(params, i), "Oiii", &param->name, &param->kind,
                          &param->elem, &param->strides))
      return -1;
    Py_INCREF(param->name);
    if (param->kind == PTL_PARAM_OUTPUT)
      ++self->output_count;
    else
      ++self->input_count;
  }
  return 0;
}

static void caller_free(PyObject *object) {
  Caller *self = (Caller *)object;
  for (int i = 0; i < self->input_count + self->output_count; ++i)
    Py_XDECREF(self->params[i].name);
  Py_XDECREF(self->dtypes);
  Py_XDECREF(self->empty);
  Py_XDECREF(self->result);
  Py_XDECREF(self->fail);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyType_Slot caller_slots[] = {
    {Py_tp_init, caller_init}, {Py_tp_call, caller_call}, {Py_tp_dealloc, caller_free}, {0, NULL}};
static PyType_Spec caller_spec = {"ptl._fast_call.Caller", sizeof(Caller), 0, Py_TPFLAGS_DEFAULT,
                                  caller_slots};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_fast_call", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast_call(void) {
  PyObject *result = PyModule_Create(&module);
  PyObject *type = result ? PyType_FromSpec(&caller_spec) : NULL;
  if (!type || PyModule_AddObjectRef(result, "Caller", type) < 0) {
    Py_XDECREF(result);
    result = NULL;
  }
  Py_XDECREF(type);
  return result;
}
