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

/// What the elements of arguments are: fractions, or small whole numbers, with which sums and
/// products of any order are exact.
enum class ArgumentValues : uint8_t { Fractions, Whole };

class Sampler {
public:
  Sampler(const CallableDecl &decl, uint64_t seed,
          ArgumentValues values = ArgumentValues::Fractions)
      : decl_(decl), random_(seed), values_(values) {}

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

  const CallableDecl &decl_;
  std::mt19937_64 random_;
  ArgumentValues values_;
};

/// Why such calls are not made: structs, functions or texts in the signature, block level, no body.
std::string whyNotSampled(const CallableDecl &decl);

} // namespace ptl::differential
