"""Sources look as `./dev format` leaves them."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    sys.exit(subprocess.run([ROOT / "dev", "format", "--check"], cwd=ROOT).returncode)
