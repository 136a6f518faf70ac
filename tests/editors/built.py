"""What a test of an editor needs of the build."""


def missing_program(build):
    """What to say of the first program that is not built; nothing if all are."""
    for program in ("ptl-lsp", "ptl-lsp-worker", "ptlc"):
        if not (build / "bin" / program).exists():
            return f"FAILED: {build}/bin/{program} is not built"
    return None
