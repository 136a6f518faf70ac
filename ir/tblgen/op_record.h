// The op records as plain values, read from TableGen and checked: the input of every backend.
#pragma once

#include "ir/tblgen/signature.h"

#include <string>
#include <vector>

namespace llvm {
class RecordKeeper;
} // namespace llvm

namespace ptl::tblgen {

struct Param {
  std::string name;
  std::string kind; ///< enumerator of `ParamKind`
  std::string doc;
  bool optional;
  bool keyword;
  bool variadic;
  std::string defaultText;
  std::vector<std::string> values;
};

/// `kind` is `Native`, `Emulated` or `None`.
struct Support {
  std::string kind;
  std::string detail;
};

/// The lowering of an operation for targets; names are empty if there is none.
struct Lowering {
  std::string combiner, identity, onNumbers, swapped;
  std::vector<std::string> forms; ///< in the order of `VectorForms`
  bool onBits;
  int64_t cpuCost;
  std::string hostCpp;
};

struct Op {
  std::string id; ///< `ReduceMax`
  std::string name;
  std::vector<std::string> aliases;
  std::string mnemonic;
  std::string group;
  std::string summary;
  std::string description;
  std::vector<Param> params;
  std::vector<ParsedSignature> signatures;
  std::string example;
  std::string opClass;
  std::string effect;
  std::string core;
  std::string pipe;
  std::string flops;
  std::string bytes;
  std::vector<Support> support; ///< cpu, reference, a2, a3, a5
  bool isOperator;
  bool customCheck;
  std::string axisFlow;  ///< enumerator of `AxisFlow`
  std::string linearity; ///< enumerator of `Linearity`
  Lowering lowering;
};

inline const char *const targetNames[] = {"cpu", "reference", "a2", "a3", "a5"};

/// All records in order of definition. For an incomplete or contradictory record the tool exits
/// with an error message at its place in the file.
std::vector<Op> readOps(const llvm::RecordKeeper &records);

} // namespace ptl::tblgen
