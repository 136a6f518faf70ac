"""What calls know of PyTorch. Imported only where PyTorch is."""

import os
import sysconfig

import torch

from . import _fast

# PyTorch's names of element types where they are not those of PTL with another letter.
_NAMES = {"bool": "bool", "bf16": "bfloat16", "int": "int64"}
_LETTERS = {"f": "float", "i": "int", "u": "uint"}


def _dtype(name):
    """PyTorch's type, or None: versions differ in what they have."""
    found = getattr(torch, _NAMES.get(name) or _LETTERS[name[0]] + name[1:], None)
    return found if isinstance(found, torch.dtype) else None


def dtypes(elems):
    """By the codes of PTL's element types."""
    return [_dtype(elems.names[code]) for code in range(len(elems.names))]


def _states():
    """Functions that say whether something traces or replaces operations; each gives something false if not."""
    names = ("_is_tracing", "_len_torch_function_stack", "_len_torch_dispatch_stack")
    found = [getattr(torch._C, name) for name in names if hasattr(torch._C, name)]
    functorch = getattr(torch._C, "_functorch", None)
    if hasattr(functorch, "peek_interpreter_stack"):
        found.append(functorch.peek_interpreter_stack)
    return tuple(found)


STATES = _states()


def is_traced():
    """Whether operators have to go through PyTorch's dispatcher, since somebody listens there."""
    for state in STATES:
        if state():
            return True
    return getattr(torch.autograd.forward_ad, "_current_level", -1) >= 0


def _access(by_code):
    """PyTorch's interface in C++, as a module that was built for this PyTorch gives it; None where there is none. PTL_FAST_CALLS=python is
    for tests without it."""
    version = f"torch-{torch.__version__}-{torch.version.git_version}"
    if os.environ.get("PTL_FAST_CALLS") == "python":
        return None
    module = _fast.load_built("ptl._torch_access", f"_torch_access.{version}.{sysconfig.get_config_var('SOABI')}.so")
    return module.access(by_code) if module else None


def table(elems):
    """For `_fast_call.use_torch`."""
    by_code, codes = dtypes(elems), {}
    for code, dtype in enumerate(by_code):
        if dtype is not None:
            codes.setdefault(dtype, code)
    return {
        "Tensor": torch.Tensor,
        "Parameter": torch.nn.Parameter,
        "elems": codes,
        "dtypes": by_code,
        "empty": torch.empty,
        "empty_like": torch.empty_like,
        "is_grad_enabled": torch.is_grad_enabled,
        "get_num_threads": torch.get_num_threads,
        "states": STATES,
        "dual": vars(torch.autograd.forward_ad),
        "access": _access(by_code),
    }


def is_in_memory(tensor):
    """Whether the tensor has an address and strides that this process can read."""
    return tensor.device.type == "cpu" and tensor.layout == torch.strided


def plain(tensor):
    """The same memory as a tensor that calls may read: of no subclass, without a gradient, not negated lazily."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    return tensor.as_subclass(torch.Tensor) if type(tensor) is not torch.Tensor else tensor
