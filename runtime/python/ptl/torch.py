"""Kernels as operators of PyTorch.

    import torch, ptl.torch
    ops = ptl.torch.load("layers.ptl", backward={"gelu": "gelu_backward"})
    y = ops.gelu(x)                       # with a gradient if x requires one
    torch.ops.layers.gelu(x)              # the same operator, as PyTorch knows it: traced, on meta tensors

Entries take and give tensors on the CPU where they are, without copies. What a backward entry takes and gives follows from names:
inputs and outputs of the forward one by their own, gradients by the name with `d` or `grad_` before it or `_grad` behind it. The
unnamed results of a `fn` are the gradients of the arrays of floating-point numbers, in order. `NAME_backward` in the same file is
the backward entry of `NAME` unless `backward` says otherwise; `backward=None` leaves all out.
"""

import keyword
import pathlib
import re

import torch

from . import _abi, _arrays, _fast, _tensors, errors
from . import Entry as _Entry
from . import Library as _Library
from ._gradients import Plan, differentiable
from ._signatures import free_dims

__all__ = ["load", "Operators", "Operator", "NotDifferentiable"]

NotDifferentiable = errors.NotDifferentiable
_FLOATS = {"f16", "bf16", "f32", "f64"}
_USUAL = (torch.Tensor, torch.nn.Parameter)  # whose operations nobody has replaced
_namespaces = {}  # what is registered, by namespace; PyTorch keeps operators as long as the process


def load(path, namespace=None, backward=()):
    """The entries of a source or of a compiled library, registered as operators `torch.ops.NAMESPACE.NAME`.

    `namespace` is the name of the file unless it is given. Loaded again, operators do what the file then says; their parameters
    must be the same as before.
    """
    return Operators(path, namespace, backward)


class Operators(_Library):
    """What one file holds; its operators are attributes."""

    def __init__(self, path, namespace=None, backward=()):
        self._entry = Operator
        super().__init__(path)
        self._namespace = namespace or re.sub(r"\W", "_", pathlib.Path(self._path).stem.removeprefix("lib"))
        if not self._namespace.isidentifier():
            raise errors.CallError(f"`{self._namespace}` is not a valid namespace name; give another one as `namespace=`")
        registered = _namespaces.get(self._namespace)
        if registered is None:
            registered = _namespaces[self._namespace] = _Namespace(self._namespace, self._path)
        registered.add(self._path, self._entries.values())
        self._name_backwards(backward)

    def _name_backwards(self, backward):
        if backward is None:
            return
        named = dict(backward)
        for name in named:
            getattr(self, name)  # says what there is if there is none
        for name, operator in self._entries.items():
            usual = f"{name}_backward"
            chosen = named.get(name, usual if usual in self._entries and name not in named else None)
            if chosen is not None:
                operator.backward = getattr(self, chosen)
                operator._plan = Plan(operator, operator.backward)


class _Namespace:
    """The operators of one namespace, and what they do at present."""

    def __init__(self, name, path):
        self.name, self.path = name, path
        self.library = torch.library.Library(name, "DEF")
        self.operators, self.schemas = {}, {}

    def add(self, path, operators):
        if path != self.path:
            raise errors.CallError(f"the namespace `{self.name}` has the operators of `{self.path}`; give another one as `namespace=`")
        schemas = {operator.__name__: operator.schema for operator in operators}
        for name, schema in schemas.items():
            before = self.schemas.get(name, schema)
            if before != schema:
                raise errors.CallError(f"`{name}` was registered as `{before}` and is `{schema}` now; give another `namespace=`")
        for operator in operators:
            name = operator.__name__
            is_new = name not in self.operators
            self.operators[name] = operator
            self.schemas[name] = schemas[name]
            if is_new:
                self._register(name)
            operator.op = getattr(getattr(torch.ops, self.name), name)

    def _register(self, name):
        self.library.define(self.schemas[name])
        present = self.operators
        # Without a tensor among the arguments nothing says on which device an operator runs.
        key = "CPU" if any(present[name]._are_arrays) else "BackendSelect"
        self.library.impl(name, lambda *args, **named: present[name]._on_cpu(args, named), key)
        self.library.impl(name, lambda *args, **named: present[name]._on_meta(args, named), "Meta")
        self.library.impl(name, lambda *args, **named: present[name]._with_gradient(args, named), "Autograd")


def below_autograd(function, args, named):
    """Calls an operator as if nobody asked for gradients."""
    guard = torch._C._AutoDispatchBelowAutograd()
    try:
        if not hasattr(guard, "__enter__"):
            return function(*args, **named)
        with guard:
            return function(*args, **named)
    finally:
        del guard


class Operator(_Entry):
    """An entry as an operator of PyTorch; call it like a function, or `op` as PyTorch does."""

    _is_operator = True
    backward = None  # the operator that gives its gradients
    _plan = None
    op = None

    def _set(self, pointer):
        super()._set(pointer)
        self._dtypes = _tensors.dtypes(self._library._elems)
        self._free = free_dims(self)
        self._are_arrays = [param.kind != _abi.SCALAR for param in self._params]
        self._in_place = [param.name.decode() for param in self._params if param.kind == _abi.INOUT]
        _fast.use_torch(self._library._elems)

    @property
    def schema(self):
        """As PyTorch writes it."""
        parts = [_declared(self._library._elems, param, index) for index, param in enumerate(self._params)]
        if self._dims:
            parts += ["*", *(f"int{'' if name in self._free else '?'} {_name(name)}{'' if name in self._free else '=None'}" for name in self._dims)]
        outputs = [f"Tensor {_name(param.name.decode())}" for param in self._outputs]
        result = "Tensor" if len(outputs) == 1 else f"({', '.join(outputs)})"
        return f"{self.__name__}({', '.join(parts)}) -> {result}"

    def _declined(self, args, named):
        """What is no usual call: something listens, a gradient is asked for, data must be copied, or arguments are wrong."""
        if not named and len(args) == len(self._params) and self._is_for_gradients(args):
            return differentiable(self, self._on_memory, args, named)
        values, outputs, dims = self._sort(args, named)
        arrays = [value for param, value in zip(self._params, values) if param.kind != _abi.SCALAR]
        tensors = [value for value in [*arrays, *outputs.values()] if isinstance(value, torch.Tensor)]
        asks = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        if outputs:
            if asks:
                raise errors.CallError(f"`{self.__name__}` with outputs given records no gradient, and an argument requires one")
            return self._on_memory(values, {**outputs, **dims})
        if _tensors.is_traced() or not all(map(_is_usual, tensors)):
            return self._named(self.op(*values, **dims))
        return differentiable(self, self._on_memory, values, dims) if asks else self._on_memory(values, dims)

    def _is_for_gradients(self, values):
        """Whether the values are as in training: usual tensors and numbers, of which one asks for a gradient."""
        asks = False
        for is_array, value in zip(self._are_arrays, values):
            if is_array:
                if type(value) not in _USUAL or not value.is_cpu:
                    return False
                asks = asks or value.requires_grad
        return asks and torch.is_grad_enabled() and not _tensors.is_traced()

    def _named(self, results):
        return self._result(*results) if self._result else results

    def _on_memory(self, values, named):
        """The call itself, without a gradient."""
        result = self._fast(*values, **named)
        if result is not NotImplemented:
            return result
        values = [self._readable(param, value) for param, value in zip(self._params, values)]
        named = {name: _tensors.plain(value) if isinstance(value, torch.Tensor) else value for name, value in named.items()}
        result = self._fast(*values, **named)
        return super()._declined(values, named) if result is NotImplemented else result

    def _readable(self, param, value):
        if not isinstance(value, torch.Tensor) or param.kind == _abi.SCALAR:
            return value
        if param.kind == _abi.INOUT:
            return _tensors.plain(value) if not value.is_neg() else value
        value = _tensors.plain(value)
        return value.contiguous() if param.strides == _abi.STRIDES_DENSE else value

    # What PyTorch calls.

    def _on_cpu(self, args, named):
        values, _, dims = self._sort(args, _given(named))
        result = self._on_memory(values, dims)
        return tuple(result) if self._result else result

    def _with_gradient(self, args, named):
        result = self._fast(*args, **_given(named))
        if result is not NotImplemented:
            return tuple(result) if self._result else result
        arrays = [value for value in args if isinstance(value, torch.Tensor)]
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in arrays):
            return differentiable(self, lambda values, dims: below_autograd(self.op, values, dims), args, named)
        unpack = torch.autograd.forward_ad.unpack_dual
        if getattr(torch.autograd.forward_ad, "_current_level", -1) >= 0 and any(unpack(each).tangent is not None for each in arrays):
            raise NotDifferentiable(f"`{self.__name__}` has no derivatives in forward mode")
        return below_autograd(self.op, args, named)

    def _on_meta(self, args, named):
        """Shapes and types of the results, from those of the arguments."""
        values, _, dims = self._sort(args, _given(named))
        runtime, elems = self._library._runtime, self._library._elems
        views, types = [], {}
        for param, value in zip(self._params, values):
            if param.kind != _abi.SCALAR:
                views.append(self._shape_of(param, value))
                types.setdefault(param.elem_name, views[-1].array.elem)
        tail = self._tail(values, dims, types)
        shapes = (_abi.View * max(len(self._outputs), 1))()
        self._check(runtime.ptl_infer_shapes(self._pointer, *_arrays.pointers(views), *tail, shapes))
        made = []
        for shape in shapes[: len(self._outputs)]:
            extents, dtype = tuple(shape.extents[: shape.array.rank]), self._dtypes[shape.array.elem]
            if dtype is None:
                raise errors.ElemError(f"PyTorch has no tensors of `{elems.names[shape.array.elem]}`")
            made.append(torch.empty(extents, dtype=dtype, device="meta"))
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def _shape_of(self, param, tensor):
        if tensor.dtype not in self._dtypes:
            raise errors.ElemError(f"`{param.name.decode()}`: `{tensor.dtype}` is not an element type of PTL")
        is_dense = param.kind == _abi.ARRAY and param.strides == _abi.STRIDES_DENSE
        strides = torch.empty(tensor.shape, device="meta").stride() if is_dense else tensor.stride()
        return _arrays.view_of(self._library._runtime, self._dtypes.index(tensor.dtype), None, tensor.shape, strides)


def _given(dims):
    """PyTorch says None for those that are not."""
    return {name: value for name, value in dims.items() if value is not None} if dims else dims


def _is_usual(tensor):
    return type(tensor) in _USUAL and tensor.is_cpu


def _name(name):
    return name + "_" if keyword.iskeyword(name) or name == "self" else name


def _declared(elems, param, index):
    """A parameter in a schema."""
    name = _name(param.name.decode())
    if param.kind != _abi.SCALAR:
        return f"Tensor{f'({chr(97 + index)}!)' if param.kind == _abi.INOUT else ''} {name}"
    elem = elems.names[param.elem] if param.elem >= 0 else "f64"
    return f"{'float' if elem in _FLOATS or elem.startswith('f8') else 'bool' if elem == 'bool' else 'int'} {name}"
