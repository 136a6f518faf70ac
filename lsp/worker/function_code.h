// Code of single functions from LLVM, and stages' texts that are assembled from it.
#pragma once

#include "lsp/worker/stage.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <list>
#include <map>
#include <memory>
#include <set>

namespace ptl::worker {

/// One function as LLVM IR or assembly.
struct FunctionCode {
  /// A module-level symbol or attribute that the function's text refers to.
  struct Need {
    enum class Kind : uint8_t { Header, Data, Declaration } kind;
    std::string name, text;
  };
  std::string text;              ///< whole lines
  std::vector<uint32_t> origins; ///< per line, a location's number in the function's key; 0: none
  std::vector<LineFacts> facts;  ///< per line; may be shorter than the text
  std::vector<Need> needs;
  std::map<unsigned, std::string> attributes; ///< of LLVM IR: `attributes #N = …` by N
  /// of assembly: the function's number in names of labels
  unsigned number = 0;

  void addLine(llvm::StringRef line, uint32_t origin, LineFacts facts);
  size_t bytes() const { return text.size() * 2 + origins.size() * 60; }
};

using FunctionCodePtr = std::shared_ptr<const FunctionCode>;

/// A function's place in a stage.
struct PlacedCode {
  std::string name;
  FunctionCodePtr code;
  std::vector<std::vector<Span>> origins; ///< of number `i + 1`
};

/// The text of a stage, `Llvm` or `Asm`, with the functions in this order.
StageText joined(const std::vector<PlacedCode> &functions, StageId id);

/// A cache of code by the digest of its function, least recently used first.
class FunctionCache {
public:
  explicit FunctionCache(size_t capacity) : capacity_(capacity) {}
  /// The code, which becomes the most recently used one; null if there is none.
  FunctionCodePtr find(llvm::XXH128_hash_t digest, StageId id);
  void add(llvm::XXH128_hash_t digest, StageId id, FunctionCodePtr code);
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }

private:
  using Key = std::tuple<uint64_t, uint64_t, StageId>;
  struct Entry {
    Key key;
    FunctionCodePtr code;
  };
  size_t capacity_, bytes_ = 0;
  std::list<Entry> entries_;
  std::map<Key, std::list<Entry>::iterator> byKey_;
};

} // namespace ptl::worker
