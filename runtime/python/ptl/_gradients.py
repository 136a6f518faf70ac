"""Gradients of operators: which entry computes them, and from what."""

import torch

from . import _abi, errors

_FLOATS = {"f16", "bf16", "f32", "f64"}


def _gradient_names(name):
    return {f"d{name}", f"grad_{name}", f"{name}_grad"}


class Plan:
    """Where the arguments of a backward entry come from, and which inputs its results are the gradients of."""

    def __init__(self, forward, backward):
        self.forward, self.backward = forward, backward
        inputs = [param.name.decode() for param in forward._params]
        outputs = [param.name.decode() for param in forward._outputs]
        if any(param.kind == _abi.INOUT for param in [*forward._params, *backward._params]):
            raise errors.CallError(f"`{forward.__name__}` and `{backward.__name__}`: what is changed in place has no gradient")
        self.arguments = [self._source(param.name.decode(), inputs, outputs) for param in backward._params]
        self.gradients = self._targets(inputs)
        self.without = [index for index in range(len(inputs)) if index not in self.gradients]
        self.kept = [(kind == "input", index) for kind, index in self.arguments if kind != "gradient"]
        self.dims = [name for name in backward._dims if name in forward._dims]

    def _source(self, name, inputs, outputs):
        """("input", i), ("output", i) or ("gradient", i): of the forward entry."""
        if name in inputs:
            return ("input", inputs.index(name))
        if name in outputs:
            return ("output", outputs.index(name))
        for index, output in enumerate(outputs):
            if name in _gradient_names(output) | ({"grad", "dy", "grad_output"} if len(outputs) == 1 else set()):
                return ("gradient", index)
        known = [*inputs, *outputs, *(f"d{output}" for output in outputs)]
        raise errors.CallError(f"`{self.backward.__name__}`: `{name}` is nothing that the gradient of `{self.forward.__name__}` can "
                               f"be given: {', '.join(f'`{each}`' for each in known)}")  # fmt: skip

    def _targets(self, inputs):
        """For each result of the backward entry the input."""
        results = [param.name.decode() for param in self.backward._outputs]
        floats = [index for index, param in enumerate(self.forward._params) if _may_have_gradient(param)]
        if results and all(name.startswith("result") and name[6:] in ("", str(index)) for index, name in enumerate(results)):
            if len(results) != len(floats):
                names = ", ".join(f"`{inputs[index]}`" for index in floats)
                raise errors.CallError(f"`{self.backward.__name__}` gives {len(results)} gradients, and `{self.forward.__name__}` has "
                                       f"{len(floats)} arrays of floating-point numbers: {names}")  # fmt: skip
            return floats
        targets = []
        for name in results:
            found = [index for index in floats if name in _gradient_names(inputs[index])]
            if not found:
                known = ", ".join(f"`d{inputs[index]}`" for index in floats)
                raise errors.CallError(f"`{self.backward.__name__}`: `{name}` is not a gradient of an input of "
                                       f"`{self.forward.__name__}`; those would be {known}")  # fmt: skip
            targets.append(found[0])
        return targets


def _may_have_gradient(param):
    # A generic element type may be one of them.
    return param.kind == _abi.ARRAY and (param.elem < 0 or param.elem_name.decode() in _FLOATS)


class _Differentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, operator, call, dims, *values):
        results = call(values, dims)
        outputs = tuple(results) if operator._result else (results,) if operator._outputs else ()
        ctx.operator, ctx.dims = operator, dims
        others = [output for output in outputs if not output.is_floating_point()]
        if others:
            ctx.mark_non_differentiable(*others)
        plan = operator._plan
        if plan is not None:
            # Only what the backward entry takes is kept.
            kept = [values[index] if is_input else outputs[index] for is_input, index in plan.kept]
            ctx.kept = [None if isinstance(each, torch.Tensor) else each for each in kept]
            ctx.save_for_backward(*(each for each in kept if isinstance(each, torch.Tensor)))
        return outputs if len(outputs) != 1 else outputs[0]

    @staticmethod
    def backward(ctx, *gradients):
        operator, plan = ctx.operator, ctx.operator._plan
        if plan is None:
            raise errors.NotDifferentiable(f"`{operator.__name__}` has no gradient: no backward entry is named for it")
        tensors, kept = iter(ctx.saved_tensors), iter(ctx.kept)
        arguments = []
        for kind, index in plan.arguments:
            if kind == "gradient":
                arguments.append(gradients[index])
            else:
                scalar = next(kept)
                arguments.append(next(tensors) if scalar is None else scalar)
        results = plan.backward(*arguments, **{name: ctx.dims[name] for name in plan.dims if ctx.dims.get(name) is not None})
        found = [None] * len(operator._params)
        for index, gradient in zip(plan.gradients, results if plan.backward._result else (results,)):
            found[index] = gradient
        return (None, None, None, *found)


def differentiable(operator, call, values, dims):
    """`call(values, dims)`, recorded for PyTorch's gradients."""
    if operator._in_place:
        name = operator._in_place[0]
        raise errors.NotDifferentiable(f"`{operator.__name__}` changes `{name}` in place, which has no gradient: call it under `torch.no_grad()`")
    for index in operator._plan.without if operator._plan else ():
        if isinstance(values[index], torch.Tensor) and values[index].requires_grad:
            name = operator._params[index].name.decode()
            raise errors.NotDifferentiable(f"`{operator.backward.__name__}` gives no gradient of `{name}`, which requires one: give `{name}.detach()`")
    results = _Differentiable.apply(operator, call, dims, *values)
    return operator._result(*results) if operator._result and not isinstance(results, operator._result) else results
