"""The tests of the VS Code extension: run.py package|unit|install|workbench|pictures BUILD

package    checks the types, bundles and packages the extension
unit       its pure functions, its grammar on samples, and what the package holds; plain node
install    what the next one needs: node, code-server, playwright
workbench  the package in a real VS Code workbench (code-server) that a headless chromium shows; screenshots go to
           $PTL_TEST_RESULTS, else BUILD/test-results
pictures   no test: all views in two themes and widths, in BUILD/pictures; those of the documents go to editors/vscode/media/pictures
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tools import HERE, ROOT, Extension, Missing, Tools, call, need


def unit(build):
    extension = Extension(build)
    env = dict(os.environ, PTL_EXTENSION=str(extension.folder), PTL_ROOT=str(ROOT), PTL_PACKAGE=str(extension.package))
    tests = sorted(str(file) for file in (HERE / "unit").glob("*.test.mjs"))
    return subprocess.run(["node", "--test", *tests], env=env).returncode


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process, log):
    for _ in range(600):
        if process.poll() is not None:
            raise Missing(f"code-server ended with {process.returncode}:\n{log.read_text()[-3000:]}")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise Missing(f"code-server does not listen after a minute:\n{log.read_text()[-3000:]}")


def workbench(build):
    results = Path(os.environ.get("PTL_TEST_RESULTS") or build / "test-results") / "vscode"
    return show(build, results, "workbench.mjs")


def pictures(build):
    shown = ROOT / "editors" / "vscode" / "media" / "pictures"
    return show(build, build / "pictures", "pictures.mjs", shown)


def show(build, results, script, *arguments):
    """The package in a new workbench, and a script that drives it; its pictures go to `results`."""
    chromium = need("chromium", "chromium")
    server = Path(os.environ.get("PTL_LSP", build / "bin" / "ptl-lsp"))
    if not server.exists():
        raise Missing(f"{server} is not built")
    tools = Tools(build)
    results.mkdir(parents=True, exist_ok=True)
    for old in results.glob("*.png"):
        old.unlink()
    state = build / "editors" / "vscode-state"
    subprocess.run(["rm", "-rf", str(state)], check=True)
    folders = {name: state / name for name in ("user", "extensions", "workspace")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    for file in (HERE / "workspace").iterdir():
        (folders["workspace"] / file.name).write_bytes(file.read_bytes())
    dump = [server.parent / "ptlc", "build", "scale.ptl", "--emit=ir:tile", "-g", "-o", "scale.mlir"]
    call(dump, folders["workspace"], "dump IR", dict(os.environ, PTL_STD=str(ROOT / "std")))
    settings = folders["user"] / "User" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes((HERE / "settings.json").read_bytes())
    config = state / "code-server.yaml"
    config.write_text("auth: none\n")
    env = tools.env()
    env["PATH"] = f"{server.parent}{os.pathsep}{env['PATH']}"
    env.setdefault("PTL_STD", str(ROOT / "std"))
    for name in [key for key in env if key.startswith(("VSCODE_", "npm_config_"))]:
        del env[name]
    env["VSCODE_CLI"] = "1"  # The editor takes this PATH, not that of a login shell.
    code = [tools.node, tools.code_server, "--config", config]
    code += ["--user-data-dir", folders["user"], "--extensions-dir", folders["extensions"]]
    call([*code, "--install-extension", Extension(build).package], state, "install the package", env)
    return drive(tools, code, folders["workspace"], results, env, script, chromium, *arguments)


def drive(tools, code, workspace, results, env, script, *arguments):
    port = free_port()
    log = results / "code-server.log"
    serve = [*code, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-workspace-trust"]
    serve += ["--disable-telemetry", "--disable-update-check", workspace]
    with open(log, "w") as output:
        process = subprocess.Popen(
            [str(part) for part in serve], env=env, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            wait_for(port, process, log)
            env["NODE_PATH"] = str(tools.modules)
            drive = [tools.node, HERE / script, port, workspace, results, *arguments]
            return subprocess.run([str(part) for part in drive], env=env, cwd=tools.folder).returncode
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["package", "unit", "install", "workbench", "pictures"])
    parser.add_argument("build", type=Path)
    options = parser.parse_args()
    build = options.build.resolve()
    try:
        if options.kind == "package":
            Extension(build).make()
            return 0
        if options.kind == "install":
            Tools(build).install()
            return 0
        return {"unit": unit, "workbench": workbench, "pictures": pictures}[options.kind](build)
    except Missing as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
