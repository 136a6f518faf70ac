// Which variants of which entries `ptlc build` compiles: what `-D entry.NAME=value,…` asks for.
#pragma once

#include "compile/entry/manifest.h"
#include "driver/session.h"
#include "ir/build/build_ir.h"

#include <string>
#include <vector>

namespace ptl {

/// The entries to compile: the one of `--entry`, else all that are `pub` or named in a `-D`, else
/// all. An entry has one variant per combination of values for its static dimensions, element types
/// (`-D softmax.T=f32`) and number of leading axes (`-D softmax...=1`); one for which some value is
/// not given has none. Reports what is wrong.
std::vector<ManifestEntry> chooseVariants(Session &session, const CheckedProgram &program);

/// What a caller must add to get a variant of `decl`: `-D softmax_rows.C=…`.
std::string missingDefines(const CallableDecl &decl);

/// The tunables of an entry that `-D BK=256` or `-D attention.BK=256` gives. Reports values that
/// are none.
std::map<std::string, int64_t> tunablesGiven(Session &session, const CallableDecl &decl);

/// What makes one variant concrete, with the tunables that `-D BK=256` or `-D attention.BK=256`
/// gives. Reports values that are none.
ir::EntryBinding bindingOf(Session &session, const ManifestEntry &entry,
                           const ManifestVariant &variant);

} // namespace ptl
