/* The usual call of an entry from Python, without a detour through ctypes: arrays that are buffers (NumPy's are) or tensors of PyTorch,
 * plain numbers, dimensions by name, outputs given or made. What it does not know (other DLPack tensors, arrays that must be copied,
 * bits of bf16, wrong arguments) it declines, and the module `ptl` goes the long way, which also words the errors.
 *
 * Limited interface of Python 3.11, so one binary serves all later versions. */
#include "runtime/python/fast_call.h"

#include <string.h>

typedef int32_t (*CallFunction)(const void *, const PtlArray *const *, int32_t, const PtlScalar *,
                                int32_t, const PtlDim *, int32_t);
typedef int32_t (*InferFunction)(const void *, const PtlArray *const *, int32_t, const PtlScalar *,
                                 int32_t, const PtlDim *, int32_t, PtlView *);
typedef int32_t (*LimitFunction)(int32_t);

/* What is known of an entry. A call that runs keeps it, since another thread may attach a later one meanwhile. */
typedef struct {
  int users;
  CallFunction call;
  InferFunction infer;
  LimitFunction limit;
  const void *entry;
  int is_operator; /* of PyTorch: its results are tensors */
  int input_count, output_count, dim_count;
  Parameter params[kMaxParams]; /* inputs, then outputs */
  PyObject *dims[kMaxDims];
  PyObject *dtypes;    /* NumPy's types by PtlElem; None where there is none */
  PyObject *empty;     /* numpy.empty */
  PyObject *result;    /* makes what several results are given back as, from a tuple */
  struct Shapes *last; /* NULL before the first call whose outputs were made */
} Entry;

enum { kRemembered = 8, kSmall = 500 };

/* The shapes of the outputs of a call, and all that they follow from: calls that differ in their elements alone are usual. */
typedef struct Shapes {
  int array_count, scalar_count, dim_count;
  PtlView arrays[kRemembered], outputs[kRemembered];
  PtlScalar scalars[kRemembered];
  PtlDim dims[kRemembered];
} Shapes;

typedef struct {
  PyObject_HEAD Entry *entry; /* NULL until `_attach` */
} Caller;

static void let_go(Entry *entry) {
  if (!entry || --entry->users > 0)
    return;
  for (int i = 0; i < entry->input_count + entry->output_count; ++i)
    Py_XDECREF(entry->params[i].name);
  for (int i = 0; i < entry->dim_count; ++i)
    Py_XDECREF(entry->dims[i]);
  Py_XDECREF(entry->dtypes);
  Py_XDECREF(entry->empty);
  Py_XDECREF(entry->result);
  PyMem_Free(entry->last);
  PyMem_Free(entry);
}

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
  return elem == PTL_BF16 || elem == PTL_F8E4M3 || elem == PTL_F8E5M2 || elem == PTL_F8E8M0;
}

static uintptr_t size_of(int32_t elem) {
  switch (elem) {
#define PTL_ELEM(id, code, spelling, bits, numpy, dlpack)                                          \
  case code:                                                                                       \
    return (bits) < 8 ? 1 : (bits) / 8;
#include "runtime/include/ptl_elems.def"
  default:
    return 1;
  }
}

int ptl_add_view(Call *call, const Parameter *param, void *data, int32_t elem, int rank) {
  PtlView *view = &call->views[call->array_count];
  int64_t expected = 1;
  int is_dense = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    is_dense &= view->extents[axis] <= 1 || view->strides[axis] == expected;
    expected *= view->extents[axis] ? view->extents[axis] : 1;
  }
  if ((uintptr_t)data % size_of(elem) != 0 ||
      (!is_dense && param->kind == PTL_PARAM_ARRAY && param->strides == PTL_STRIDES_DENSE))
    return 0;
  view->array.data = data;
  view->array.rank = rank;
  view->array.extents = view->extents;
  view->array.strides = view->strides;
  view->array.elem = elem;
  call->arrays[call->array_count++] = &view->array;
  return 1;
}

/* 1: the view describes the array; 0: declined. */
static int add_array(Call *call, const Parameter *param, PyObject *value) {
  if (ptl_is_tensor(value))
    return ptl_add_tensor(call, param, value);
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
  for (int axis = 0; axis < buffer->ndim; ++axis) {
    if (buffer->strides[axis] % buffer->itemsize)
      return 0;
    view->extents[axis] = buffer->shape[axis];
    view->strides[axis] = buffer->strides[axis] / buffer->itemsize;
  }
  return ptl_add_view(call, param, buffer->buf, elem, buffer->ndim);
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

/* 1: the dimension has the value that is given by name, if one is; 0: declined. */
static int add_dim(Call *call, PyObject *name, PyObject *named, Py_ssize_t *taken) {
  PyObject *value = PyDict_GetItemWithError(named, name);
  if (!value)
    return 1;
  PtlDim *dim = &call->dims[call->dim_count++];
  ++*taken;
  dim->name = PyUnicode_AsUTF8AndSize(name, NULL);
  dim->value = PyLong_CheckExact(value) ? PyLong_AsLongLong(value) : -1;
  return dim->name && dim->value >= 0 && !PyErr_Occurred();
}

/* The arguments by parameter, outputs that are not given as NULL: borrowed. 0: declined. */
static int sort_arguments(const Entry *self, Call *call, PyObject *args, PyObject *named,
                          PyObject **values) {
  Py_ssize_t given = PyTuple_Size(args);
  if (given > self->input_count)
    return 0;
  Py_ssize_t taken = 0;
  int is_fine = 1;
  for (int i = 0; i < self->input_count + self->output_count; ++i) {
    values[i] = i < given ? PyTuple_GetItem(args, i) : NULL;
    if (i >= given && named) {
      values[i] = PyDict_GetItemWithError(named, self->params[i].name);
      taken += values[i] != NULL;
    }
    if (!values[i] && i < self->input_count)
      return 0;
  }
  Py_ssize_t wanted = named ? PyDict_Size(named) : 0;
  for (int i = 0; i < self->dim_count && taken < wanted; ++i)
    is_fine &= add_dim(call, self->dims[i], named, &taken);
  PyErr_Clear();
  return is_fine && taken == wanted;
}

/* A new array of NumPy for an output. */
static PyObject *allocate(const Entry *self, const PtlView *shape) {
  if (holds_bits(shape->array.elem))
    return Py_NewRef(Py_NotImplemented);
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

static int same_shape(const PtlView *one, const PtlView *other) {
  size_t bytes = (size_t)one->array.rank * sizeof *one->extents;
  return one->array.elem == other->array.elem && one->array.rank == other->array.rank &&
         memcmp(one->extents, other->extents, bytes) == 0 &&
         memcmp(one->strides, other->strides, bytes) == 0;
}

static int is_last(const Shapes *last, const Call *call) {
  if (last->array_count != call->array_count || last->scalar_count != call->scalar_count ||
      last->dim_count != call->dim_count)
    return 0;
  for (int i = 0; i < call->array_count; ++i)
    if (!same_shape(&last->arrays[i], &call->views[i]))
      return 0;
  for (int i = 0; i < call->scalar_count; ++i)
    if (last->scalars[i].u64 != call->scalars[i].u64)
      return 0;
  for (int i = 0; i < call->dim_count; ++i)
    if (last->dims[i].name != call->dims[i].name || last->dims[i].value != call->dims[i].value)
      return 0;
  return 1;
}

static void remember(Shapes *last, const Call *call, const PtlView *shapes, int output_count) {
  last->array_count = call->array_count;
  last->scalar_count = call->scalar_count;
  last->dim_count = call->dim_count;
  memcpy(last->arrays, call->views, (size_t)call->array_count * sizeof *call->views);
  memcpy(last->scalars, call->scalars, (size_t)call->scalar_count * sizeof *call->scalars);
  memcpy(last->dims, call->dims, (size_t)call->dim_count * sizeof *call->dims);
  memcpy(last->outputs, shapes, (size_t)output_count * sizeof *shapes);
}

/* The shapes of the outputs. 0: the runtime refuses the inputs. They are the caller's own: while arrays are made, another thread may
 * call the same entry. */
static int infer_outputs(Entry *self, const Call *call, PtlView *shapes) {
  int fits = self->output_count <= kRemembered && call->array_count <= kRemembered &&
             call->scalar_count <= kRemembered && call->dim_count <= kRemembered;
  if (fits && self->last && is_last(self->last, call)) {
    memcpy(shapes, self->last->outputs, (size_t)self->output_count * sizeof *shapes);
    return 1;
  }
  if (self->infer(self->entry, call->arrays, call->array_count, call->scalars, call->scalar_count,
                  call->dims, call->dim_count, shapes))
    return 0;
  if (fits && !self->last)
    self->last = PyMem_Calloc(1, sizeof *self->last);
  if (fits && self->last)
    remember(self->last, call, shapes, self->output_count);
  return 1;
}

/* Adds the outputs, made where they are not given; owned by `results`. 1, 0: declined, -1: an error is set. */
static int add_outputs(Entry *self, Call *call, PyObject **values, PyObject **results) {
  PtlView shapes[kMaxParams];
  int missing = 0;
  for (int i = 0; i < self->output_count; ++i)
    missing |= !values[i];
  if (missing && !infer_outputs(self, call, shapes))
    return 0;
  for (int i = 0; i < self->output_count; ++i) {
    const Parameter *param = &self->params[self->input_count + i];
    int is_new_tensor = !values[i] && (call->tensor_count || self->is_operator);
    results[i] = values[i]       ? Py_NewRef(values[i])
                 : is_new_tensor ? ptl_new_tensor(call, &shapes[i])
                                 : allocate(self, &shapes[i]);
    if (!results[i])
      return -1;
    if (results[i] == Py_NotImplemented || (!is_new_tensor && !add_array(call, param, results[i])))
      return 0;
  }
  return 1;
}

static PyObject *give_back(const Entry *self, PyObject **results) {
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

static int has_few_elements(const PtlArray *array) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < array->rank; ++axis) {
    if (array->extents[axis] > kSmall)
      return 0;
    count *= array->extents[axis];
    if (count > kSmall)
      return 0;
  }
  return 1;
}

static int32_t call_code(const Entry *self, const Call *call) {
  int32_t threads = call->tensor_count || self->is_operator ? ptl_torch_threads() : 0;
  /* Others may run meanwhile, unless letting them takes longer than the call. */
  int is_small = 1;
  for (int i = 0; i < call->array_count; ++i)
    is_small &= has_few_elements(&call->views[i].array);
  PyThreadState *state = is_small ? NULL : PyEval_SaveThread();
  int32_t before = threads ? self->limit(threads) : 0;
  int32_t status = self->call(self->entry, call->arrays, call->array_count, call->scalars,
                              call->scalar_count, call->dims, call->dim_count);
  if (threads)
    self->limit(before);
  if (state)
    PyEval_RestoreThread(state);
  return status;
}

/* NotImplemented: declined. `status` is what the call itself gave. */
static PyObject *run(Entry *self, Call *call, PyObject **values, PyObject **results,
                     int32_t *status) {
  for (int i = 0; i < self->input_count; ++i) {
    const Parameter *param = &self->params[i];
    int done = param->kind == PTL_PARAM_SCALAR ? add_scalar(call, param, values[i])
                                               : add_array(call, param, values[i]);
    if (!done)
      return Py_NewRef(Py_NotImplemented);
  }
  /* Operators without tensors are asked, too: others may trace what makes one. */
  int inputs = call->tensor_count;
  if ((inputs || self->is_operator) && !ptl_may_pass(call, 0, self->is_operator))
    return Py_NewRef(Py_NotImplemented);
  int added = add_outputs(self, call, values + self->input_count, results);
  /* Outputs that are given may ask for a gradient, too. */
  if (added > 0 && inputs < call->tensor_count && !ptl_may_pass(call, inputs, 0))
    added = 0;
  if (added <= 0)
    return added < 0 ? NULL : Py_NewRef(Py_NotImplemented);
  *status = call_code(self, call);
  if (call->written_count && ptl_note_written(call) < 0)
    return NULL;
  return *status ? Py_NewRef(Py_None) : give_back(self, results);
}

static PyObject *short_way(Caller *object, PyObject *args, PyObject *named, int32_t *status) {
  Entry *self = object->entry;
  PyObject *values[kMaxParams], *results[kMaxParams] = {NULL};
  Call call;
  call.array_count = call.buffer_count = call.scalar_count = call.dim_count = 0;
  call.written_count = call.tensor_count = call.tensor_view = 0;
  *status = 0;
  if (!self || !sort_arguments(self, &call, args, named, values))
    return Py_NewRef(Py_NotImplemented);
  ++self->users;
  PyObject *result = run(self, &call, values, results, status);
  for (int i = 0; i < call.buffer_count; ++i)
    PyBuffer_Release(&call.buffers[i]);
  for (int i = 0; i < self->output_count; ++i)
    Py_XDECREF(results[i]);
  let_go(self);
  return result;
}

static PyObject *go_on(PyObject *object, const char *method, PyObject *args, PyObject *named) {
  PyObject *none = named ? Py_NewRef(named) : PyDict_New();
  PyObject *result = none ? PyObject_CallMethod(object, method, "OO", args, none) : NULL;
  Py_XDECREF(none);
  return result;
}

static PyObject *caller_call(PyObject *object, PyObject *args, PyObject *named) {
  int32_t status;
  PyObject *result = short_way((Caller *)object, args, named, &status);
  if (!result || (result != Py_NotImplemented && !status))
    return result;
  Py_DECREF(result);
  return go_on(object, status ? "_failed" : "_declined", args, named);
}

/* _fast(...): as a call, but what is declined gives NotImplemented. */
static PyObject *caller_fast(PyObject *object, PyObject *args, PyObject *named) {
  int32_t status;
  PyObject *result = short_way((Caller *)object, args, named, &status);
  if (!result || !status)
    return result;
  Py_DECREF(result);
  return go_on(object, "_failed", args, named);
}

static int read_params(Entry *entry, PyObject *params, PyObject *dims) {
  Py_ssize_t count = PyList_Size(params), dim_count = PyList_Size(dims);
  if (count < 0 || count > kMaxParams || dim_count < 0 || dim_count > kMaxDims) {
    PyErr_SetString(PyExc_ValueError, "too many parameters");
    return 0;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    Parameter *param = &entry->params[i];
    if (!PyArg_ParseTuple(PyList_GetItem(params, i), "Oiii", &param->name, &param->kind,
                          &param->elem, &param->strides))
      return 0;
    Py_INCREF(param->name);
    if (param->kind == PTL_PARAM_OUTPUT)
      ++entry->output_count;
    else
      ++entry->input_count;
  }
  for (Py_ssize_t i = 0; i < dim_count; ++i)
    entry->dims[entry->dim_count++] = Py_NewRef(PyList_GetItem(dims, i));
  return 1;
}

/* _attach(call, infer, limit, entry, params, dims, dtypes, empty, result, is_operator): addresses as integers, `params` a list of
 * (name, kind, elem, strides), inputs first. */
static PyObject *caller_attach(PyObject *object, PyObject *args) {
  Caller *self = (Caller *)object;
  unsigned long long call, infer, limit, address;
  PyObject *params, *dims, *dtypes, *empty, *result;
  int is_operator;
  if (!PyArg_ParseTuple(args, "KKKKO!O!O!OOp", &call, &infer, &limit, &address, &PyList_Type,
                        &params, &PyList_Type, &dims, &PyList_Type, &dtypes, &empty, &result,
                        &is_operator))
    return NULL;
  Entry *entry = PyMem_Calloc(1, sizeof *entry);
  if (!entry)
    return PyErr_NoMemory();
  entry->users = 1;
  entry->call = (CallFunction)(uintptr_t)call;
  entry->infer = (InferFunction)(uintptr_t)infer;
  entry->limit = (LimitFunction)(uintptr_t)limit;
  entry->entry = (const void *)(uintptr_t)address;
  entry->is_operator = is_operator;
  entry->dtypes = Py_NewRef(dtypes);
  entry->empty = Py_NewRef(empty);
  entry->result = Py_NewRef(result);
  if (!read_params(entry, params, dims)) {
    let_go(entry);
    return NULL;
  }
  Entry *before = self->entry;
  self->entry = entry;
  let_go(before);
  Py_RETURN_NONE;
}

static void caller_free(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  let_go(((Caller *)object)->entry);
  /* Objects of subclasses lie where their own type puts them. */
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static PyMethodDef caller_methods[] = {
    {"_attach", caller_attach, METH_VARARGS, NULL},
    {"_fast", (PyCFunction)(void (*)(void))caller_fast, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot caller_slots[] = {{Py_tp_call, caller_call},
                                     {Py_tp_dealloc, caller_free},
                                     {Py_tp_methods, caller_methods},
                                     {0, NULL}};
static PyType_Spec caller_spec = {"ptl._fast_call.Caller", sizeof(Caller), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, caller_slots};
static PyMethodDef module_methods[] = {{"use_torch", ptl_use_torch, METH_O, NULL},
                                       {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_fast_call", NULL, -1, module_methods, NULL, NULL, NULL, NULL};

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
