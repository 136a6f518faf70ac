/* Tensors of PyTorch by its interface in C++, which is another one in each version: the module `_torch_access` is built for one, and
 * only that one loads it. Without it `fast_torch.c` asks PyTorch's Python interface, which takes ten times as long. */
#pragma once

#include "runtime/include/ptl.h"

#ifndef Py_PYTHON_H
#include <Python.h>
#endif

/* All functions are called with Python's lock held, on tensors whose type nobody has replaced by a subclass. */
typedef struct {
  /* Fills the address, extents and strides (in elements) of a view; the rank, or -1: the data cannot be read where they are. */
  int (*describe)(PyObject *tensor, PtlView *view);
  int (*requires_grad)(PyObject *tensor);
  int (*is_grad_enabled)(void);
  /* The threads that PyTorch may use from here. */
  int32_t (*threads)(void);
  /* A new tensor of the type and the extents of `shape`, dense, with its address; NotImplemented: PyTorch has no such type; NULL: an
   * error is set. */
  PyObject *(*make)(const PtlView *shape, void **data);
  /* Counts a change of the elements: gradients that need the old ones are refused then. */
  void (*note_written)(PyObject *tensor);
} PtlTorchAccess;

/* The name of the capsule that the module gives. */
#define PTL_TORCH_ACCESS "ptl._torch_access.access"
