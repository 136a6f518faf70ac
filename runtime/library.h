#pragma once

#include "runtime/abi/kernel_abi.h"
#include "runtime/bind.h"

#include <memory>
#include <string>
#include <vector>

/// A name that callers look up, with the addresses of its variants.
struct PtlEntry {
  const ptl::rt::Entry *entry = nullptr;
  std::vector<PtlEntryFn> functions; // one per variant
  std::vector<std::string> variantTexts;
  uint64_t serial = 0;     // no other entry has it, nor had one of a library that was closed
  bool keepsCalls = false; // the checks of a call may be kept for the next one
};

/// A loaded library: what its manifest says and where its code is.
struct PtlLibrary {
  ~PtlLibrary();

  void *handle = nullptr; // of dlopen; nullptr for code that was in memory
  std::string manifestText;
  ptl::rt::Manifest manifest;
  std::vector<PtlEntry> entries;
};

namespace ptl::rt {

Failure openLibrary(const char *path, std::unique_ptr<PtlLibrary> &library);
Failure openManifest(const char *manifest, PtlLookup lookup, void *user, PtlLibrary &library);

/// Everything `ptl_call` does. `missing` is set to the variant wanted when there is none.
Failure callEntry(const PtlEntry &entry, const CallArguments &arguments, std::string &missing);

} // namespace ptl::rt
