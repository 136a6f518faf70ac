#pragma once

#include "runtime/expr.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::rt {

/// The description of a compiled library, parsed from JSON (docs/manifest.md). Everything in it has
/// been validated: names resolve, counts agree, numbers are in range.

struct Dim {
  std::string name;
  bool isStatic = false;
};

struct Param {
  std::string name;
  std::string elemName;        // as declared: an element type or a type parameter
  std::optional<PtlElem> elem; // absent for a type parameter
  int typeParam = -1;          // then the index in Entry::types
  /// The elements that bytes hold two by two; then `elem` is `u8`, and the last axis counts bytes.
  std::optional<PtlElem> packed;
  PtlParamKind kind = PTL_PARAM_ARRAY;
  bool hasLeading = false; // the shape starts with `..`
  std::vector<Expr> shape; // without the `..`
  PtlStrides strides = PTL_STRIDES_DENSE;
  std::vector<Expr> strideExprs;
  std::vector<std::string> axisTexts; // as declared, one per axis without the `..`
  std::string shapeText;              // "[.., C]"
  std::string
      defaultText; // the number of a scalar that a call leaves out; empty: it has to be given

  bool isArray() const { return kind != PTL_PARAM_SCALAR; }
  bool isWritten() const { return kind == PTL_PARAM_INOUT || kind == PTL_PARAM_OUTPUT; }
};

struct Where {
  std::string text;
  Expr expr;
  int line = 0;
};

struct Variant {
  std::string symbol;
  std::vector<std::optional<int64_t>> statics; // per dimension; absent: any value
  std::vector<std::optional<PtlElem>> elems;   // per type parameter; absent: any
  std::optional<int64_t> leading;              // number of axes of `..`; absent: any

  std::string describe(const struct Entry &entry) const;
};

struct Entry {
  std::string name;
  std::string kind; // "fn", "kernel", "program"
  std::string signature;
  std::string doc;
  std::string file;
  int line = 0;
  std::vector<std::string> types;
  std::vector<Dim> dims;
  std::vector<Param> params; // followed by the outputs
  int outputCount = 0;
  std::vector<Where> wheres;
  std::vector<Variant> variants;

  bool hasLeading() const;
  std::vector<const Param *> arrays() const; // array parameters, then the outputs
  std::vector<const Param *> scalars() const;
};

struct Manifest {
  std::string source;
  std::vector<Entry> entries;
};

/// nullopt, with the location and the reason in `problem`, if the text is not a manifest of this
/// ABI.
std::optional<Manifest> parseManifest(std::string_view text, std::string &problem);

} // namespace ptl::rt
