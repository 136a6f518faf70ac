// Writes C++ literals and constant arrays.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ptl::tblgen {

/// A string literal; UTF-8 is not escaped.
std::string quoted(llvm::StringRef text);
std::vector<std::string> quotedAll(const std::vector<std::string> &texts);

inline const char *flag(bool value) { return value ? "true" : "false"; }

/// Writes `static constexpr <type> <name>[] = {items};`, and returns an expression for it: the
/// name, or `{}` if it is empty.
std::string array(llvm::raw_ostream &os, llvm::StringRef type, const std::string &name,
                  const std::vector<std::string> &items);

} // namespace ptl::tblgen
