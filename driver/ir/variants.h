// Decides from the command line (`-D entry.NAME=value,…`) which variants of which entries `ptlc
// build` compiles.
#pragma once

#include "compile/entry/manifest.h"
#include "driver/session.h"
#include "ir/build/build_ir.h"

#include <string>
#include <vector>

namespace ptl {

/// The entries to compile: the one of `--entry`, otherwise all that are `pub` or named in a `-D`,
/// otherwise all. An entry has one variant per combination of values for its static dimensions,
/// element types (`-D softmax.T=f32`) and number of leading axes (`-D softmax...=1`). An entry with
/// a missing value has no variant. Errors are reported.
std::vector<ManifestEntry> chooseVariants(Session &session, const CheckedProgram &program);

/// The options that are missing for a variant of `decl`: `-D softmax_rows.C=…`.
std::string missingDefines(const CallableDecl &decl);

/// The values that `-D BK=256` or `-D attention.BK=256` gives an entry's tunables. Values that are
/// not integers are reported.
std::map<std::string, int64_t> tunablesGiven(Session &session, const CallableDecl &decl);

/// The binding of one variant, with the tunables that `-D BK=256` or `-D attention.BK=256` gives.
/// Values that are not integers are reported.
ir::EntryBinding bindingOf(Session &session, const ManifestEntry &entry,
                           const ManifestVariant &variant);

} // namespace ptl
