// The module `_torch_access`: see torch_access.h.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/python/torch_access.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>

namespace {

// The element types by PyTorch's code and back, from the table that `ptl._tensors` makes.
constexpr size_t kMostTypes = 64;
std::array<int32_t, kMostTypes> elemOfType;
std::array<c10::ScalarType, kMostTypes> typeOfElem;

int describe(PyObject *object, PtlView *view) try {
  const at::Tensor &tensor = THPVariable_Unpack(object);
  auto type = static_cast<size_t>(tensor.scalar_type());
  // A tensor with the negative bit is a lazy negation: its memory holds the numbers with the other sign.
  bool isInMemory = tensor.has_storage() && tensor.layout() == c10::kStrided && tensor.is_cpu() &&
                    !tensor.is_neg() && tensor.dim() <= PTL_MAX_RANK && type < kMostTypes &&
                    elemOfType[type] >= 0;
  if (!isInMemory)
    return -1;
  // A tensor may have a shape and no memory, such as those that only stand for others in tracing.
  view->array.data = tensor.data_ptr();
  if (!view->array.data && tensor.numel() > 0)
    return -1;
  view->array.elem = elemOfType[type];
  at::IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  std::copy(sizes.begin(), sizes.end(), view->extents);
  std::copy(strides.begin(), strides.end(), view->strides);
  return static_cast<int>(tensor.dim());
} catch (const std::exception &) {
  // Kinds of tensors without an address refuse to give one.
  return -1;
}

int requiresGrad(PyObject *object) { return THPVariable_Unpack(object).requires_grad(); }

int isGradEnabled() { return c10::GradMode::is_enabled(); }

int32_t threads() { return at::get_num_threads(); }

PyObject *make(const PtlView *shape, void **data) {
  auto elem = static_cast<size_t>(shape->array.elem);
  if (elem >= kMostTypes || typeOfElem[elem] == c10::ScalarType::Undefined)
    return Py_NewRef(Py_NotImplemented);
  try {
    at::IntArrayRef extents(shape->extents, static_cast<size_t>(shape->array.rank));
    at::Tensor tensor = at::detail::empty_cpu(extents, typeOfElem[elem], /*pin_memory=*/false,
                                              /*memory_format=*/c10::nullopt);
    *data = tensor.data_ptr();
    return THPVariable_Wrap(std::move(tensor));
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

void noteWritten(PyObject *object) {
  // A tensor that was made in inference mode has no version counter, and PyTorch refuses to count its changes.
  if (const at::Tensor &tensor = THPVariable_Unpack(object); !tensor.is_inference())
    tensor.unsafeGetTensorImpl()->bump_version();
}

/// access(dtypes): the functions, for PyTorch's types by PtlElem, None where there is none.
PyObject *access(PyObject *, PyObject *dtypes) {
  static PtlTorchAccess functions = {describe, requiresGrad, isGradEnabled,
                                     threads,  make,         noteWritten};
  if (!PyList_Check(dtypes))
    return PyErr_Format(PyExc_TypeError, "a list of types is wanted");
  elemOfType.fill(-1);
  typeOfElem.fill(c10::ScalarType::Undefined);
  for (Py_ssize_t elem = 0; elem < PyList_Size(dtypes); ++elem) {
    PyObject *dtype = PyList_GetItem(dtypes, elem);
    if (!THPDtype_Check(dtype) || static_cast<size_t>(elem) >= kMostTypes)
      continue;
    c10::ScalarType type = reinterpret_cast<THPDtype *>(dtype)->scalar_type;
    typeOfElem[static_cast<size_t>(elem)] = type;
    // Of two names for one type the first counts.
    if (int32_t &known = elemOfType[static_cast<size_t>(type)]; known < 0)
      known = static_cast<int32_t>(elem);
  }
  return PyCapsule_New(&functions, PTL_TORCH_ACCESS, nullptr);
}

PyMethodDef methods[] = {{"access", access, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "_torch_access",
                      nullptr,
                      -1,
                      methods,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

} // namespace

// Python looks for `PyInit_` before the name of the module, which begins with `_` as those do that users do not import.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
PyMODINIT_FUNC PyInit__torch_access() { return PyModule_Create(&module); }
