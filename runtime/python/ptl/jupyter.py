"""`%load_ext ptl`, then `%%ptl` compiles a cell: see `Magics.ptl`."""

import atexit
import itertools
import pathlib
import shutil
import tempfile

from IPython.core.magic import Magics as _Magics
from IPython.core.magic import cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from . import errors, load

_numbers = itertools.count(1)


@magics_class
class Magics(_Magics):
    @magic_arguments()
    @argument("name", nargs="?", help="the variable for the library; without it each entry is a variable of its own")
    @argument("--torch", action="store_true", help="register the entries as operators of PyTorch, with gradients")
    @argument("--backward", action="append", default=[], metavar="NAME=BACKWARD", help="the entry that gives the gradients of another one")
    @cell_magic
    def ptl(self, line, cell):
        """Compiles the cell and makes its entries variables."""
        options = parse_argstring(self.ptl, line)
        number = next(_numbers)
        path = pathlib.Path(self._folder()) / f"cell_{number}.ptl"
        # With the line of the magic the lines of messages are those of the cell.
        path.write_text(f"// %%ptl {line}\n{cell}")
        try:
            library = self._load(path, options)
        except errors.CompileError as error:
            raise errors.CompileError(str(error).replace(str(path), path.name)) from None
        names = {options.name: library} if options.name else {name: getattr(library, name) for name in library._entries}
        self.shell.push(names)
        return library

    def _load(self, path, options):
        if not options.torch and not options.backward:
            return load(path)
        from . import torch

        pairs = [each.partition("=") for each in options.backward]
        wrong = [name for name, equals, _ in pairs if not equals]
        if wrong:
            raise errors.CallError(f"`--backward {wrong[0]}`: write NAME=BACKWARD")
        return torch.load(path, backward={name: backward for name, _, backward in pairs})

    def _folder(self):
        if not hasattr(self, "_path"):
            self._path = tempfile.mkdtemp(prefix="ptl-")
            atexit.register(shutil.rmtree, self._path, ignore_errors=True)
        return self._path
