"""Adds up the results in a folder and prints `N passed, N failed`.

Test programs leave one JSON file each (GoogleTest's, or ours with `tests` and `failures`); a program that ctest ran but
that left none counts as one test. Programs that were skipped are named.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree


def is_skipped(run) -> bool:
    """Whether a program has said itself that it lacks something it needs, and what."""
    return any(each.get("message", "").startswith("SKIP_RETURN_CODE") for each in run.iter("skipped"))


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    total = failed = 0
    programs_failed = 0
    for path in folder.glob("*.json"):
        result = json.loads(path.read_text())
        total += result["tests"]
        failed += result["failures"] + result.get("errors", 0)
        programs_failed += 1 if result["failures"] else 0
    runs = list(xml.etree.ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"))
    skipped = [run.get("name") for run in runs if is_skipped(run)]
    bad = [run.get("name") for run in runs if run.get("status") != "run" and not is_skipped(run)]
    silent = len(runs) - len(skipped) - len(list(folder.glob("*.json")))
    # A program that crashed wrote no result, or one without the failure.
    silent_failed = max(0, len(bad) - programs_failed)
    total += max(silent, silent_failed)
    failed += silent_failed
    if bad:
        print("failed: " + ", ".join(bad))
    if skipped:
        print("skipped: " + ", ".join(skipped))
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
