"""No tool reads or writes outside of the folders that the server was started for, whatever a path, a link or an import says."""
import os
import pathlib
import subprocess

from client import Client

KERNEL = "pub kernel same[N](x: f32[N]) -> (y: f32[N])\n{\n    parallel i in tiles(N, 64) { y[i] = x[i] }\n}\n"
SECRET = "/// the secret words\npub fn secret(a: f32) -> f32 { return a }\n"


def files_below(folder):
    return {path: path.lstat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def paths(tools, inside, outside):
    client = Client(tools.ptlc, [inside])
    home = pathlib.Path(outside, "secret.ptl")
    tries = [str(home), "../outside/secret.ptl", "./../outside/secret.ptl", "link.ptl", "folder/secret.ptl", "sub/../../outside/secret.ptl", "/etc/passwd",
             "/proc/self/environ", "hanging.ptl/../../outside/secret.ptl", str(inside) + "x/secret.ptl"]
    for path in tries:
        for tool in ("check", "format", "cost", "ledger", "sim", "tune", "test", "run"):
            why = client.refused(tool, {"file": path})
            assert "outside of the folders" in why or "is not a file" in why, (tool, path, why)
            assert "secret words" not in why
        assert "outside" in client.refused("preview", {"file": path, "stage": "tile"})
    # With a text of its own a call reads no file, but what it imports is read.
    for name in ("../outside/secret.ptl", str(home), "link.ptl", "folder/secret.ptl"):
        text = f'import "{name}": secret\n' + KERNEL
        for tool in ("check", "cost", "run"):
            why = client.refused(tool, {"file": "new.ptl", "text": text})
            assert "imports" in why and "outside" in why, (tool, name, why)
    # An import of an import, too.
    (inside / "step.ptl").write_text('import "../outside/secret.ptl": secret\npub fn step(a: f32) -> f32 { return secret(a) }\n')
    why = client.refused("check", {"file": "new.ptl", "text": 'import "step.ptl": step\n' + KERNEL})
    assert "outside" in why, why
    (inside / "step.ptl").unlink()
    # What is inside works, through links as well.
    assert client.ask("check", {"file": "sub/inner.ptl"})["ok"]
    assert client.ask("check", {"file": str(inside / "sub" / "inner.ptl")})["ok"]
    assert client.ask("check", {"file": "again.ptl"})["ok"]
    for value in ("@../outside/x.npy", "@/etc/passwd", f"@{outside}/x.npy", "@xlink.npy"):
        assert "outside of the folders" in client.refused("run", {"file": "same.ptl", "inputs": {"x": value}}), value
    for uri in (f"file://{home}", "ptl://docs/../../../etc/passwd", "ptl://answers/../secret.ptl"):
        assert "no document" in client.refused("more", {"uri": uri})
    assert client.close() == 0


def two_roots(tools, inside, outside):
    client = Client(tools.ptlc, [inside, outside])
    assert client.ask("check", {"file": str(outside / "secret.ptl")})["ok"]
    assert client.ask("check", {"file": "sub/inner.ptl"})["ok"]
    assert client.close() == 0


def fixes(tools, inside, outside):
    """A fix writes where it was made for, and only while the file is the one that it was made for."""
    client = Client(tools.ptlc, [inside])
    target = inside / "sub" / "loose.ptl"
    target.write_text(KERNEL.replace("{ y", "{   y"))
    fix = client.ask("format", {"file": "sub/loose.ptl"})["id"]
    # Another text.
    target.write_text(KERNEL.replace("{ y", "{    y"))
    assert "has changed" in client.refused("apply_fix", {"id": fix})
    # A link to elsewhere in its place, with the very text.
    victim = outside / "victim.ptl"
    victim.write_text(KERNEL.replace("{ y", "{   y"))
    target.unlink()
    target.symlink_to(victim)
    assert "outside" in client.refused("apply_fix", {"id": fix})
    # A link in place of a folder on the way.
    (inside / "sub").rename(inside / "was")
    (inside / "sub").symlink_to(outside)
    (outside / "loose.ptl").write_text(KERNEL.replace("{ y", "{   y"))
    assert "outside" in client.refused("apply_fix", {"id": fix})
    assert "{   y" in victim.read_text() and "{   y" in (outside / "loose.ptl").read_text()
    assert "no fix" in client.refused("apply_fix", {"id": "0000000000"})
    assert client.close() == 0


def nothing_written(tools, inside, outside):
    """Calls leave no file, neither here nor where compiled code is kept."""
    kept = tools.folder / "kept"
    environment = os.environ.copy()
    os.environ["PTL_CACHE"] = str(kept)
    before = files_below(tools.folder)
    client = Client(tools.ptlc, [inside])
    for tool, more in (("check", {"target": "a3"}), ("cost", {"seconds": 1}), ("ledger", {}), ("sim", {}), ("run", {"values": {"N": 4}}), ("preview", {"stage": "asm"}), ("preview", {"stage": "block"})):
        client.ask(tool, {"file": "same.ptl", **more})
    assert client.close() == 0
    os.environ.clear()
    os.environ.update(environment)
    assert files_below(tools.folder) == before
    assert not kept.exists()


def roots(tools, inside, outside):
    outcome = subprocess.run([tools.ptlc, "mcp", "--root", str(inside / "none")], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert outcome.returncode == 2 and "is not a folder" in outcome.stderr, outcome
    for words in (["x.ptl"], ["--port", "70000"], ["--port", "x"]):
        outcome = subprocess.run([tools.ptlc, "mcp", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert outcome.returncode == 2 and outcome.stderr.startswith("ptlc: error: "), outcome


def main(tools):
    inside, outside = tools.folder / "inside", tools.folder / "outside"
    for folder in (inside / "sub", outside):
        folder.mkdir(parents=True)
    (outside / "secret.ptl").write_text(SECRET)
    (outside / "x.npy").write_bytes(b"")
    (inside / "same.ptl").write_text(KERNEL)
    (inside / "sub" / "inner.ptl").write_text('import "../same.ptl": same\n' + KERNEL.replace("same", "own"))
    (inside / "link.ptl").symlink_to(outside / "secret.ptl")
    (inside / "folder").symlink_to(outside)
    (inside / "again.ptl").symlink_to(inside / "same.ptl")
    (inside / "xlink.npy").symlink_to(outside / "x.npy")
    for part in (roots, paths, two_roots, nothing_written, fixes):
        part(tools, inside, outside)
