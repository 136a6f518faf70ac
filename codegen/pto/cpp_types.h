// Types of the block level in C++, with aliases.
#pragma once

#include "ir/dialect/pto_dialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace ptl::pto {

/// `float`, `half`, `int32_t`; `index` is `int64_t`.
std::string cppElement(mlir::Type type);

/// A part of an array in global memory: five axes, `kDynamic` where the extent is an argument of
/// the constructor.
struct CppView {
  mlir::Type element;
  int64_t shape[5] = {1, 1, 1, 1, 1}, strides[5] = {1, 1, 1, 1, 1};
  const char *layout = "ND";
};

/// Aliases of one file, in order of first use; the definitions come before the functions.
class CppTypes {
public:
  /// Counts the tile types in each memory, so that the only type of a memory gets the short alias.
  explicit CppTypes(llvm::ArrayRef<TileBufType> tiles);
  std::string tile(TileBufType type);
  std::string view(const CppView &view);
  std::string pipe(const std::string &spelled, llvm::StringRef wanted);
  const std::vector<std::string> &definitions() const { return definitions_; }
  const std::vector<std::string> &pipes() const { return pipes_; }

private:
  std::string define(const std::string &wanted, const std::string &spelled);

  llvm::StringMap<unsigned> ofPlace_;
  llvm::StringMap<std::string> known_; ///< alias by type
  llvm::StringMap<unsigned> taken_;
  std::vector<std::string> definitions_, pipes_;
};

} // namespace ptl::pto
