// Random legal calls of a declaration.
#pragma once

#include "codegen/reference/interpreter.h"

#include <optional>
#include <random>

namespace ptl::differential {

/// A call without its arrays: what dimensions, element types and `..` are.
struct Sample {
  std::vector<int64_t> dims;
  std::vector<ElemKind> elems;
  std::vector<int64_t> prefix;
  uint64_t seed = 0; ///< of the arguments' values
};

class Sampler {
public:
  Sampler(const CheckedProgram &program, const CallableDecl &decl, uint64_t seed)
      : program_(program), decl_(decl), random_(seed) {}

  /// Draws extents at the edges (0, 1, primes, one beside powers of two), small enough to
  /// interpret.
  Sample draw();
  /// The same with these element types.
  Sample draw(const std::vector<ElemKind> &elems);
  /// The call with arguments; nothing when a shape has no value or is negative.
  std::optional<reference::CallRequest> request(const Sample &sample) const;
  /// Samples with one extent made smaller, the smallest first.
  static std::vector<Sample> smaller(const Sample &sample);

private:
  int64_t drawExtent(bool isStatic);
  std::optional<reference::Value> argument(const Local &param, const Sample &sample,
                                           std::mt19937_64 &random) const;
  ElemKind elemOf(const Elem &elem, const Sample &sample) const;

  const CheckedProgram &program_;
  const CallableDecl &decl_;
  std::mt19937_64 random_;
};

/// Why such calls are not made: structs, functions or texts in the signature, block level, no body.
std::string whyNotSampled(const CallableDecl &decl);

} // namespace ptl::differential
