"""Writes a Python module for a file of kernels, and its types for editors and checkers: `python3 -m ptl.stubs FILE.ptl`.

Beside the file, or in the folder of `-o`, `NAME.pyi` has a typed function with its documentation for each entry, and `NAME.py`
loads the file when it is imported. With `--torch` they are operators of PyTorch.
"""

import argparse
import json
import keyword
import os
import pathlib
import sys

from . import _abi, _signatures, errors, load

_NUMPY = {"bool": "bool_", "int": "int64"}
_LETTERS = {"f": "float", "i": "int", "u": "uint"}


def _elem(param, entry):
    """A parameter's element type; nothing if it is generic."""
    return entry._library._elems.names[param.elem] if param.elem >= 0 else ""


def _array(param, entry, is_torch):
    if is_torch:
        return "torch.Tensor"
    elem = _elem(param, entry)
    if not elem or elem in ("bf16", "f8e4m3", "f8e5m2", "f8e8m0", "f4e2m1", "i4"):
        return "npt.NDArray[Any]"
    return f"npt.NDArray[np.{_NUMPY.get(elem) or _LETTERS[elem[0]] + elem[1:]}]"


def _scalar(param, entry):
    elem = _elem(param, entry)
    return "bool" if elem == "bool" else "int" if elem[:1] in ("i", "u") else "float"


def _annotation(param, entry, is_torch):
    if param.kind == _abi.SCALAR:
        return _scalar(param, entry)
    # What is read may be anything that can be made an array; what is written is one.
    return "npt.ArrayLike" if param.kind == _abi.ARRAY and not is_torch else _array(param, entry, is_torch)


def _function(entry, is_torch):
    fallback = entry._defaults
    parts = [
        f"{param.name.decode()}: {_annotation(param, entry, is_torch)}" + (" = ..." if param.name.decode() in fallback else "")
        for param in entry._params
    ]
    named = [f"{name}: int" for name in _signatures.free_dims(entry)]
    named += [f"{param.name.decode()}: Optional[{_array(param, entry, is_torch)}] = None" for param in entry._outputs]
    parts += ["*", *named] if named else []
    types = [_array(param, entry, is_torch) for param in entry._outputs]
    result = "None" if not types else types[0] if len(types) == 1 else f"_{entry.__name__}_results"
    lines = []
    if len(types) > 1:
        lines.append(f"class {result}(NamedTuple):")
        lines += [f"    {field}: {text}" for field, text in zip(entry._result._fields, types)] + ["", ""]
    documentation = entry.__doc__.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n")
    lines.append(f"def {entry.__name__}({', '.join(parts)}) -> {result}:")
    lines += [f'    """{documentation[0]}'] + [f"    {line}".rstrip() for line in documentation[1:]] + ['    """', "    ...", ""]
    return "\n".join(lines)


def _entries(library):
    """Those whose names, and whose parameters', can be written in Python."""
    return [entry for name, entry in library._entries.items() if not keyword.iskeyword(name) and entry.__signature__ is not None]


def stub(library, is_torch=False):
    """The text of the `.pyi` of a loaded library."""
    name = pathlib.Path(library._path).name
    imports = "import torch\n" if is_torch else "import numpy as np\nimport numpy.typing as npt\n"
    head = f'"""What {name} holds. Written by `python3 -m ptl.stubs`."""\n\nfrom typing import Any, NamedTuple, Optional\n\n{imports}'
    return head + "\n" + "\n".join(_function(entry, is_torch) for entry in _entries(library))


def module(library, source, is_torch=False, backward=None):
    """The text of the `.py` that loads `source`, a path from its own folder."""
    package = "ptl.torch" if is_torch else "ptl"
    named = f", backward={dict(backward)!r}" if backward else ""
    head = f'"""Loads {pathlib.Path(source).name}. Written by `python3 -m ptl.stubs`."""\n\nimport pathlib\n\nimport {package}\n\n'
    head += f"_library = {package}.load(pathlib.Path(__file__).resolve().parent / {json.dumps(str(source))}{named})\n"
    return head + "".join(f"{entry.__name__} = _library.{entry.__name__}\n" for entry in _entries(library))


def write(path, folder=None, is_torch=False, backward=None):
    """Writes both files; gives their paths."""
    path = pathlib.Path(path)
    folder = pathlib.Path(folder) if folder else path.parent
    name = path.stem.removeprefix("lib") if path.suffix == ".so" else path.stem
    if not name.isidentifier() or keyword.iskeyword(name):
        raise errors.LoadError(f"`{name}` is not a valid name of a Python module")
    if is_torch:
        from . import torch

        library = torch.load(path, backward=backward or {})
    else:
        library = load(path)
    source = os.path.relpath(path.resolve(), folder.resolve())
    files = folder / f"{name}.pyi", folder / f"{name}.py"
    files[0].write_text(stub(library, is_torch))
    files[1].write_text(module(library, source, is_torch, backward))
    return files


def main():
    parser = argparse.ArgumentParser(prog="python3 -m ptl.stubs", description=__doc__.split("\n\n")[0])
    parser.add_argument("file", nargs="+")
    parser.add_argument("-o", "--output", help="the folder to write to; without it beside the file")
    parser.add_argument("--torch", action="store_true", help="operators of PyTorch")
    parser.add_argument("--backward", action="append", default=[], metavar="NAME=BACKWARD", help="with --torch: the entry that gives the gradients of another one")
    options = parser.parse_args()
    backward = dict(each.partition("=")[::2] for each in options.backward)
    try:
        for file in options.file:
            for path in write(file, options.output, options.torch or bool(backward), backward):
                print(path)
    except errors.Error as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
