// Fields of TableGen records as values of the standard library.
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/TableGen/Record.h"

#include <string>
#include <vector>

namespace ptl::tblgen {

inline std::string str(const llvm::Record &record, llvm::StringRef field) {
  return record.getValueAsString(field).str();
}

inline std::vector<std::string> strings(const llvm::Record &record, llvm::StringRef field) {
  std::vector<std::string> result;
  for (llvm::StringRef text : record.getValueAsListOfStrings(field))
    result.push_back(text.str());
  return result;
}

/// The records of a class sorted by their place in the files, so that tables and pages have the
/// order of the source.
inline std::vector<const llvm::Record *> recordsOf(const llvm::RecordKeeper &records,
                                                   llvm::StringRef className) {
  std::vector<const llvm::Record *> all;
  for (const llvm::Record *record : records.getAllDerivedDefinitions(className))
    all.push_back(record);
  llvm::sort(all,
             [](const llvm::Record *a, const llvm::Record *b) { return a->getID() < b->getID(); });
  return all;
}

} // namespace ptl::tblgen
