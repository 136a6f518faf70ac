"""`ptl-lsp --check`: every feature at every token of all PTL there is here."""
import re

from session import ROOT, Place, subprocess

BLOCK = re.compile(r"^```ptl\n(.*?)^```", re.M | re.S)
CHUNK = 24  # files for one process
LARGE = 200_000  # bytes of files in one process


def pages(folder):
    """The examples in the pages of the diagnostics, as files."""
    for page in sorted((ROOT / "frontend" / "base" / "explain").glob("*.md")):
        for number, block in enumerate(BLOCK.findall(page.read_text())):
            path = folder / f"{page.stem}_{number}.ptl"
            path.write_text(block)
            yield path


def chunks(files):
    part, size = [], 0
    for path in files:
        part.append(path)
        size += path.stat().st_size
        if len(part) == CHUNK or size > LARGE:
            yield part
            part, size = [], 0
    if part:
        yield part


def check(place: Place, files):
    done = subprocess.run([place.bin / "ptl-lsp", "--check", *files], capture_output=True, env=place.environment(),
                          cwd=place.folder, timeout=300)
    if done.returncode == 0:
        return None
    return f"exit {done.returncode}\n{done.stdout.decode(errors='replace')[:2000]}{done.stderr.decode(errors='replace')[:500]}"


def cases(place: Place, long: bool, seed: int):
    folder = place.folder / "pages"
    folder.mkdir(exist_ok=True)
    tests = ROOT / "tests"
    groups = {
        "examples": sorted((ROOT / "examples").glob("*.ptl")),
        "library": sorted((ROOT / "std").glob("*.ptl")),
        "language": sorted((tests / "language").rglob("*.ptl")),
        "fuzz corpus": sorted((tests / "fuzz" / "corpus").glob("*.ptl")),
        "pages": list(pages(folder)),
    }
    for name, files in groups.items():
        for part in ([f] for f in files) if name in ("examples", "library") else chunks(files):
            yield f"{name}: {part[0].name} and {len(part) - 1} others", lambda p=part: check(place, p)
