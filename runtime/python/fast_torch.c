/* Tensors of PyTorch in calls of `_fast_call`: described by their address and strides, made by `torch.empty`; by PyTorch's interface in
 * C++ where the module that was built for this PyTorch is there, else by the one in Python. */
#include "runtime/python/fast_call.h"

#include "runtime/python/torch_access.h"

#include <stddef.h>
#include <string.h>

/* What `use_torch` was given, and the names of attributes. They live as long as the process. */
static struct {
  PyObject *tensor_type, *parameter_type;
  PyObject *elems;  /* a dictionary from PyTorch's types to PtlElem */
  PyObject *dtypes; /* a list of them by PtlElem, None where there is none */
  PyObject *empty, *empty_like;
  PyObject *is_grad_enabled, *get_num_threads;
  PyObject
      *states; /* functions that give something false while nothing traces or replaces operations */
  PyObject *dual;               /* the dictionary of torch.autograd.forward_ad */
  const PtlTorchAccess *access; /* NULL: none was built for this PyTorch */
} torch;
static struct {
  PyObject *data_ptr, *is_contiguous, *stride, *is_neg, *transpose, *new_empty;
} methods; /* of torch.Tensor: plain tensors have no others, and need not be asked for them */
static struct {
  PyObject *shape, *dtype, *requires_grad, *is_cpu, *level, *zero;
} names;

static int take(PyObject *table, const char *name, PyObject **into) {
  PyObject *value = PyDict_GetItemString(table, name);
  if (!value) {
    PyErr_Format(PyExc_KeyError, "the table of PyTorch lacks `%s`", name);
    return 0;
  }
  Py_XDECREF(*into);
  *into = Py_NewRef(value);
  return 1;
}

PyObject *ptl_use_torch(PyObject *module, PyObject *table) {
  (void)module;
  static const struct {
    const char *text;
    PyObject **into;
  } texts[] = {{"shape", &names.shape},
               {"dtype", &names.dtype},
               {"requires_grad", &names.requires_grad},
               {"is_cpu", &names.is_cpu},
               {"_current_level", &names.level}},
    functions[] = {{"data_ptr", &methods.data_ptr},    {"is_contiguous", &methods.is_contiguous},
                   {"stride", &methods.stride},        {"is_neg", &methods.is_neg},
                   {"transpose_", &methods.transpose}, {"new_empty", &methods.new_empty}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    if (!*texts[i].into && !(*texts[i].into = PyUnicode_InternFromString(texts[i].text)))
      return NULL;
  if (!names.zero && !(names.zero = PyLong_FromLong(0)))
    return NULL;
  if (!take(table, "Parameter", &torch.parameter_type) || !take(table, "elems", &torch.elems) ||
      !take(table, "dtypes", &torch.dtypes) || !take(table, "empty", &torch.empty) ||
      !take(table, "empty_like", &torch.empty_like) ||
      !take(table, "is_grad_enabled", &torch.is_grad_enabled) ||
      !take(table, "get_num_threads", &torch.get_num_threads) ||
      !take(table, "states", &torch.states) || !take(table, "dual", &torch.dual) ||
      !take(table, "Tensor", &torch.tensor_type))
    return NULL;
  PyObject *access = PyDict_GetItemString(table, "access");
  if (access && access != Py_None &&
      !(torch.access = PyCapsule_GetPointer(access, PTL_TORCH_ACCESS)))
    return NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (!*functions[i].into &&
        !(*functions[i].into = PyObject_GetAttrString(torch.tensor_type, functions[i].text)))
      return NULL;
  Py_RETURN_NONE;
}

int ptl_is_tensor(PyObject *value) {
  PyObject *type = (PyObject *)Py_TYPE(value);
  return torch.tensor_type && (type == torch.tensor_type || type == torch.parameter_type);
}

/* 1: true, 0: false or an error, which is cleared. Takes the reference. */
static int is_true(PyObject *value) {
  int truth = value ? PyObject_IsTrue(value) : 0;
  Py_XDECREF(value);
  PyErr_Clear();
  return truth > 0;
}

static int attribute(PyObject *tensor, PyObject *name) {
  return is_true(PyObject_GetAttr(tensor, name));
}

/* -1: PTL has no such type. */
static int32_t elem_of_tensor(PyObject *tensor) {
  /* PyTorch has one object for each type, which lives as long as the process. */
  static PyObject *last;
  static int32_t last_elem;
  PyObject *dtype = PyObject_GetAttr(tensor, names.dtype);
  if (dtype && dtype != last) {
    PyObject *code = PyDict_GetItemWithError(torch.elems, dtype);
    last = code ? dtype : NULL;
    last_elem = code ? (int32_t)PyLong_AsLong(code) : -1;
  }
  Py_XDECREF(dtype);
  return dtype ? last_elem : -1;
}

/* The numbers of a tuple; -1: it is none, or has too many. */
static int read_numbers(PyObject *tuple, int64_t *numbers) {
  if (!tuple || !PyTuple_Check(tuple) || PyTuple_Size(tuple) > PTL_MAX_RANK)
    return -1;
  int count = (int)PyTuple_Size(tuple);
  for (int i = 0; i < count; ++i)
    numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  return PyErr_Occurred() ? -1 : count;
}

/* The rank; -1: something is not as tensors in memory have it. */
static int read_layout(PyObject *tensor, PtlView *view) {
  PyObject *shape = PyObject_GetAttr(tensor, names.shape);
  int rank = read_numbers(shape, view->extents);
  Py_XDECREF(shape);
  if (rank < 0)
    return -1;
  if (is_true(PyObject_CallFunctionObjArgs(methods.is_contiguous, tensor, NULL))) {
    int64_t next = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      view->strides[axis] = next;
      next *= view->extents[axis] ? view->extents[axis] : 1;
    }
    return rank;
  }
  PyObject *strides = PyObject_CallFunctionObjArgs(methods.stride, tensor, NULL);
  int count = read_numbers(strides, view->strides);
  Py_XDECREF(strides);
  return count == rank ? rank : -1;
}

/* What `PtlTorchAccess` has as `describe`, by the interface in Python. */
static int describe(PyObject *tensor, PtlView *view) {
  view->array.elem = elem_of_tensor(tensor);
  int rank = view->array.elem >= 0 ? read_layout(tensor, view) : -1;
  /* A negated view holds other numbers than it shows. */
  PyObject *address = rank >= 0 && attribute(tensor, names.is_cpu) &&
                              !is_true(PyObject_CallFunctionObjArgs(methods.is_neg, tensor, NULL))
                          ? PyObject_CallFunctionObjArgs(methods.data_ptr, tensor, NULL)
                          : NULL;
  view->array.data = address ? PyLong_AsVoidPtr(address) : NULL;
  Py_XDECREF(address);
  int is_fine = address && !PyErr_Occurred();
  PyErr_Clear();
  /* Storage that is only shown, and holds nothing yet. */
  for (int axis = 0; is_fine && axis < rank && !view->array.data; ++axis)
    if (view->extents[axis] == 0)
      return rank;
  return is_fine && view->array.data ? rank : -1;
}

int ptl_add_tensor(Call *call, const Parameter *param, PyObject *tensor) {
  PtlView *view = &call->views[call->array_count];
  int is_written = param->kind != PTL_PARAM_ARRAY;
  int rank = torch.access ? torch.access->describe(tensor, view) : describe(tensor, view);
  if (rank < 0)
    return 0;
  if (call->tensor_count == 0)
    call->tensor_view = call->array_count;
  call->tensors[call->tensor_count++] = tensor;
  if (is_written)
    call->written[call->written_count++] = tensor;
  return ptl_add_view(call, param, view->array.data, view->array.elem, rank);
}

static int is_grad_enabled(void) {
  return torch.access ? torch.access->is_grad_enabled()
                      : is_true(PyObject_CallNoArgs(torch.is_grad_enabled));
}

static int requires_grad(PyObject *tensor) {
  return torch.access ? torch.access->requires_grad(tensor)
                      : attribute(tensor, names.requires_grad);
}

int ptl_may_pass(const Call *call, int first, int is_operator) {
  if (first < call->tensor_count && is_grad_enabled())
    for (int i = first; i < call->tensor_count; ++i)
      if (requires_grad(call->tensors[i]))
        return 0;
  Py_ssize_t count = is_operator ? PyTuple_Size(torch.states) : 0;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (is_true(PyObject_CallNoArgs(PyTuple_GetItem(torch.states, i))))
      return 0;
  PyObject *level = is_operator ? PyDict_GetItemWithError(torch.dual, names.level) : NULL;
  return !level || PyLong_AsLong(level) < 0;
}

static int is_like(const PtlView *view, const PtlView *shape) {
  if (view->array.elem != shape->array.elem || view->array.rank != shape->array.rank)
    return 0;
  for (int64_t axis = 0; axis < shape->array.rank; ++axis)
    if (view->extents[axis] != shape->extents[axis] || view->strides[axis] != shape->strides[axis])
      return 0;
  return 1;
}

/* By the interface in Python, whose ways to make a tensor differ in what they cost by half a microsecond. */
static PyObject *make_by_python(const Call *call, const PtlView *shape) {
  PyObject *tensor = call->tensor_count ? call->tensors[0] : NULL;
  const PtlView *view = tensor ? &call->views[call->tensor_view] : NULL;
  if (view && is_like(view, shape))
    return PyObject_CallFunctionObjArgs(torch.empty_like, tensor, NULL);
  PyObject *dtype = PyList_GetItem(torch.dtypes, shape->array.elem);
  if (!dtype || dtype == Py_None)
    return dtype ? Py_NewRef(Py_NotImplemented) : NULL;
  PyObject *extents = PyTuple_New((Py_ssize_t)shape->array.rank);
  if (!extents)
    return NULL;
  for (int64_t axis = 0; axis < shape->array.rank; ++axis)
    PyTuple_SetItem(extents, (Py_ssize_t)axis, PyLong_FromLongLong(shape->extents[axis]));
  PyObject *made = NULL;
  if (view && view->array.elem == shape->array.elem) {
    made = PyObject_CallFunctionObjArgs(methods.new_empty, tensor, extents, NULL);
  } else {
    PyObject *args = PyTuple_Pack(1, extents), *named = PyDict_New();
    if (args && named && PyDict_SetItem(named, names.dtype, dtype) == 0)
      made = PyObject_Call(torch.empty, args, named);
    Py_XDECREF(args);
    Py_XDECREF(named);
  }
  Py_DECREF(extents);
  return made;
}

/* A tensor of that shape and its address; NotImplemented: PyTorch has no such type; NULL: an error is set. */
static PyObject *make_tensor(const Call *call, const PtlView *shape, void **data) {
  if (torch.access)
    return torch.access->make(shape, data);
  PyObject *made = make_by_python(call, shape);
  if (!made || made == Py_NotImplemented)
    return made;
  PyObject *address = PyObject_CallFunctionObjArgs(methods.data_ptr, made, NULL);
  if (!address) {
    Py_DECREF(made);
    return NULL;
  }
  *data = PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  return made;
}

PyObject *ptl_new_tensor(Call *call, const PtlView *shape) {
  PtlView *view = &call->views[call->array_count];
  PyObject *made = make_tensor(call, shape, &view->array.data);
  if (!made || made == Py_NotImplemented)
    return made;
  int rank = (int)shape->array.rank;
  memcpy(view->extents, shape->extents, (size_t)rank * sizeof *view->extents);
  memcpy(view->strides, shape->strides, (size_t)rank * sizeof *view->strides);
  view->array.rank = rank;
  view->array.extents = view->extents;
  view->array.strides = view->strides;
  view->array.elem = shape->array.elem;
  call->arrays[call->array_count++] = &view->array;
  return made;
}

int32_t ptl_torch_threads(void) {
  if (torch.access)
    return torch.access->threads();
  PyObject *count = torch.get_num_threads ? PyObject_CallNoArgs(torch.get_num_threads) : NULL;
  long threads = count ? PyLong_AsLong(count) : 0;
  Py_XDECREF(count);
  PyErr_Clear();
  return threads > 0 && threads < INT32_MAX ? (int32_t)threads : 0;
}

/* An operation in place that changes nothing, and counts as a change: gradients that need the old values are refused then. */
int ptl_note_written(const Call *call) {
  for (int i = 0; i < call->written_count; ++i) {
    if (torch.access) {
      torch.access->note_written(call->written[i]);
      continue;
    }
    PyObject *done = PyObject_CallFunctionObjArgs(methods.transpose, call->written[i], names.zero,
                                                  names.zero, NULL);
    if (!done)
      return -1;
    Py_DECREF(done);
  }
  return 0;
}
