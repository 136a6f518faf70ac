#!/usr/bin/env bash
# The tour behind `./dev demo`: kernels are compiled, run on arrays in files, and compared with NumPy.
#   demo.sh FOLDER, that of a build or the prefix of an installation
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH PTL_CACHE=$work/cache PTLC=$build/bin/ptlc PYTHONPATH=$PWD/runtime/python:$build/lib/python3/dist-packages

title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ %s\n' "$*"; }

title "A mistake, answered without running anything"
cat > "$work/attn.ptl" <<'EOF'
fn scores[S, T, D](q: f16[S, D], k: f16[T, D]) -> f32[S, T] {
    return q @ k
}
EOF
show ptlc check attn.ptl
(cd "$work" && ptlc check attn.ptl 2>&1) || true

title "What a small kernel becomes: tiles"
show ptlc build examples/01_vector_add.ptl --emit=ir:tile -o -
ptlc build examples/01_vector_add.ptl --emit=ir:tile -o -

title "Kernels on arrays in files, compared with NumPy"
/usr/bin/python3 examples/demo.py "$work"
