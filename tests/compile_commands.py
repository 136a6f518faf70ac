"""What the build compiles, file by file. The build compiles sources in groups (`PTL_UNITY`), each of which is a file that includes them, and
CMake's compile_commands.json has the groups."""
import json
import pathlib
import re


def per_file(build: pathlib.Path) -> list[dict[str, str]]:
    """The entries of compile_commands.json with one for each source file: the command compiles that file alone, and the output is the object
    that holds it, be it with others."""
    found = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        group = pathlib.Path(entry["file"])
        files = re.findall(r'^#include "(.+)"$', group.read_text(), re.MULTILINE) if group.parent.name == "Unity" else [str(group)]
        found += [{**entry, "file": file, "command": entry["command"].replace(str(group), file)} for file in files]
    return found
