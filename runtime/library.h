#pragma once

#include "runtime/abi/kernel_abi.h"
#include "runtime/bind.h"

#include <memory>
#include <string>
#include <vector>

/// An entry, which callers look up by name, with the addresses of its variants.
struct PtlEntry {
  const ptl::rt::Entry *entry = nullptr;
  std::vector<PtlEntryFn> functions; // one per variant
  std::vector<std::string> variantTexts;
  uint64_t serial = 0;     // unique over all entries, including those of closed libraries
  bool keepsCalls = false; // the result of a call's checks may be cached
};

/// A loaded library: its manifest and its code.
struct PtlLibrary {
  ~PtlLibrary();

  void *handle = nullptr; // of dlopen; nullptr for code that was passed in memory
  std::string manifestText;
  ptl::rt::Manifest manifest;
  std::vector<PtlEntry> entries;
};

namespace ptl::rt {

Failure openLibrary(const char *path, std::unique_ptr<PtlLibrary> &library);
Failure openManifest(const char *manifest, PtlLookup lookup, void *user, PtlLibrary &library);

/// The implementation of `ptl_call`. If there is no suitable variant, `missing` describes the one
/// that is needed.
Failure callEntry(const PtlEntry &entry, const CallArguments &arguments, std::string &missing);

} // namespace ptl::rt
