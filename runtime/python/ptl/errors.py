"""What can go wrong. The classes are those of runtime/include/ptl_errors.def."""

import linecache


class Error(Exception):
    """A failure that the runtime reports; `code`, `file` and `line` say which and where, `source` is the text of the line if the
    file is there. Tracebacks show it below the message."""

    def __init__(self, message, code=0, file=None, line=0):
        super().__init__(message)
        self.code, self.file, self.line = code, file, line
        self.source = ""
        if file and line:
            linecache.checkcache(file)
            self.source = linecache.getline(file, line).strip()
        if self.source and hasattr(self, "add_note"):  # Python 3.11
            self.add_note(f"  {line} | {self.source}")


class LoadError(Error):
    pass


class MissingName(Error, AttributeError):
    pass


class CallError(Error, TypeError):
    pass


class ElemError(Error, TypeError):
    pass


class ShapeError(Error, ValueError):
    pass


class LayoutError(Error, ValueError):
    pass


class WhereError(Error, ValueError):
    pass


class VariantError(Error, ValueError):
    """No variant was compiled for these static values; `missing` says for which."""

    missing = ""


class AssertError(Error, AssertionError):
    pass


class BoundsError(Error, IndexError):
    pass


class OutOfMemory(Error, MemoryError):
    pass


class RangeError(Error, ValueError):
    pass


class FileError(Error, OSError):
    pass


class NotDifferentiable(Error, RuntimeError):
    """A gradient was asked for that no backward entry gives."""


class CompileError(Error):
    """`ptlc` refused the source; the message is what it said."""

    def _render_traceback_(self):
        """What notebooks show: the message has the lines that matter."""
        return str(self).splitlines()


def from_runtime(runtime):
    """The exception for the last failure of this thread."""
    failure = runtime.ptl_last_failure().contents
    name = runtime.ptl_status_class(failure.code).decode()
    kind = globals().get(name, Error)
    error = kind(
        runtime.ptl_last_error().decode(errors="replace"),
        failure.code,
        failure.file.decode(errors="replace") if failure.file else None,
        failure.line,
    )
    if kind is VariantError:
        error.missing = runtime.ptl_missing_variant().decode()
    return error
