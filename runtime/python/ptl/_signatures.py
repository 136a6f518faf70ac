"""How an entry looks in Python: its signature, and its documentation from the header and the comment in the source."""

import inspect
import json
import keyword

from . import _abi

_BINDING = {"add", "sub", "mul", "exactdiv", "neg", "const", "sym"}  # the forms that fix the one name in them that nothing else fixes


def manifest_of(entry):
    """What the library's manifest says of the entry."""
    found = [each for each in json.loads(entry._library.manifest)["entries"] if each["name"] == entry.__name__]
    return found[0] if found else {}


def _names(expression, dims):
    """The dimensions in an expression of the manifest; None if it fixes none of them, whatever else is known."""
    if isinstance(expression, str):
        return {expression} & dims
    if not isinstance(expression, dict):
        return set()
    found = set()
    for form, operands in expression.items():
        if form not in _BINDING:
            return None
        for operand in operands if isinstance(operands, list) else [operands]:
            inner = _names(operand, dims)
            if inner is None:
                return None
            found |= inner
    return found


def free_dims(entry):
    """The dimensions that no array fixes: callers give them by name."""
    dims = set(entry._dims)
    inputs = manifest_of(entry).get("params", [])
    axes = [each for param in inputs for key in ("shape", "strides") if isinstance(param.get(key), list) for each in param[key]]
    left = [names for names in (_names(axis, dims) for axis in axes) if names]
    known = set()
    while fixed := [names - known for names in left if len(names - known) == 1]:
        known |= set().union(*fixed)
    return [name for name in entry._dims if name not in known]


def defaults(entry):
    """The numbers that stand for parameters which a call leaves out, by their names."""
    found = {param["name"]: param["default"] for param in manifest_of(entry).get("params", []) if "default" in param}
    return {name: float(value["float"]) if isinstance(value, dict) else value for name, value in found.items()}


def text_of(param):
    """The type of a parameter, as the source has it."""
    return param.elem_name.decode() + param.shape.decode()


def returns(entry):
    """The type of what a call gives."""
    types = [text_of(param) for param in entry._outputs]
    return ("None", types[0] if types else "", f"tuple[{', '.join(types)}]")[min(len(types), 2)]


def signature(entry, elems):
    """For `inspect`; None where a name of the source cannot be one of Python."""
    kinds = inspect.Parameter
    fallback = entry._defaults
    rows = [
        (param.name.decode(), kinds.POSITIONAL_OR_KEYWORD, text_of(param), fallback.get(param.name.decode(), kinds.empty))
        for param in entry._params
    ]
    rows += [(name, kinds.KEYWORD_ONLY, "int", kinds.empty) for name in free_dims(entry)]
    rows += [(param.name.decode(), kinds.KEYWORD_ONLY, text_of(param), None) for param in entry._outputs]
    if any(keyword.iskeyword(name) or not name.isidentifier() for name, *_ in rows):
        return None
    parameters = [kinds(name, kind, annotation=text, default=default) for name, kind, text, default in rows]
    return inspect.Signature(parameters, return_annotation=returns(entry))


def _about(param, elems):
    role = {_abi.INOUT: "changed in place", _abi.OUTPUT: "written there if it is given", _abi.ARRAY: "", _abi.SCALAR: ""}[param.kind]
    if param.kind == _abi.ARRAY and param.strides == _abi.STRIDES_DENSE:
        role = "copied if it is not dense"
    return f"    {param.name.decode()}: {text_of(param)}" + (f" ({role})" if role else "")


def documentation(entry, elems, comment):
    """What `help` shows."""
    fallback = entry._defaults
    names = [param.name.decode() for param in entry._params]
    names = [f"{name}={fallback[name]}" if name in fallback else name for name in names]
    keywords = free_dims(entry) + [f"{param.name.decode()}=None" for param in entry._outputs]
    listed = names + (["*", *keywords] if keywords else [])
    text = f"{entry.__name__}({', '.join(listed)}) -> {returns(entry)}\n"
    if comment:
        text += f"\n{comment.rstrip()}\n"
    if names or keywords:
        rows = [_about(param, elems) for param in [*entry._params, *entry._outputs]]
        rows += [f"    {name}: int (a dimension that no array fixes)" for name in free_dims(entry)]
        text += "\nParameters:\n" + "\n".join(rows) + "\n"
    if entry.wheres:
        text += "\nRequires:\n" + "".join(f"    {where}\n" for where in entry.wheres)
    place = manifest_of(entry)
    where = f"{place.get('file', '')}:{place.get('line', 0)}: " if place.get("file") else ""
    return text + f"\n{where}{entry.signature}".rstrip()
