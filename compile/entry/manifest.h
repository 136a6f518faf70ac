// The manifest of compiled entries, as docs/manifest.md describes it.
#pragma once

#include "frontend/base/source.h"
#include "frontend/sema/checked_tree.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptl {

/// One compiled variant of an entry, and its specialisation.
struct ManifestVariant {
  std::string symbol;
  std::map<std::string, int64_t> statics;
  std::vector<ElemKind> elems; ///< one per type parameter
  uint32_t leading = 0;        ///< number of axes of `..`
};

struct ManifestEntry {
  const CallableDecl *decl = nullptr;
  std::vector<ManifestVariant> variants;
};

/// Why a declaration cannot be called from outside (for instance structs in its signature); empty
/// if it can.
std::string entryProblem(const CallableDecl &decl);

/// The requirements on elements of arrays that the manifest states, so that the runtime has checked them before it calls the entry.
std::vector<const WhereClause *> elementsCheckedByCaller(const CheckedProgram &program,
                                                         const CallableDecl &decl);

/// The JSON text. Precondition: every entry can be called from outside (`entryProblem`).
std::string emitManifest(const CheckedProgram &program, const SourceManager &sources,
                         const std::vector<ManifestEntry> &entries, bool unchecked);

} // namespace ptl
