// The built-in operations as the front end sees them: the records of `ir/ops/*.td`, turned into
// constant data by `ptl-tblgen`. Nothing here is written by hand but the schema.
//
// Finding the record of a call. `findOps(name)` gives every record of that name or alias (`max` has
// two: the elementwise one and the reduction). The record of a call is the only one for which
// `acceptsCall` holds; the names of a record never overlap so that two hold (a test proves it).
// Operators are named by their spelling (`"+"`, `"not"`, `".T"`); unary and binary `-` are two
// records told apart by their number of operands. A conversion is a call of an element type's name: `findOps("bf16")` is the record
// `convert`.
//
// Signatures. A record has one or more, tried in order; the first whose operands unify is used. The
// text form is parsed when the table is generated; its grammar:
//
//   signature = [ "[" var { "," var } "]" ] "(" [ operand { "," operand } ] ")" "->" result
//               { "," result }
//   var       = name ":" ( "float" | "integer" | "number" | "any" | "bool" )
//                                            an element type
//   operand   = type [ "..." ] [ "?" ]       "?" may be left out, "..." repeats
//   result    = type | "()" | "type"         "()" is nothing; "type" is the array type that is
//                                            given as the argument `ArrayType`
//   type      = elem [ "[" shape "]" ]       without brackets a scalar
//   elem      = var | element type | "acc(" var ")" | "any"
//             | "elem"                       the type named by the call, by the `ElemType` or by
//                                            the `ArrayType` parameter
//   shape     = "*"                          any shape; all operands so marked broadcast together,
//                                            and a result so marked has the broadcast shape
//                                            (scalars have rank 0)
//             | [ ".." ","? ] { dimension name }
//                                            leading axes, then named ones; equal names are equal
//                                            extents
//             | "reduced"                    operand 0 with the axes of parameter `axis` at extent
//                                            1, or a scalar when `axis` is not given (result only)
//             | "?"                          any shape; the hand-written check of the record
//                                            (`customCheck`) computes that of a result
//
// Operands stand for the `Value` parameters of the record, in order. `..` is one prefix, the same
// throughout. An untyped literal takes the element type that the other operands give its variable.
#pragma once

#include "frontend/base/elem_type.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace ptl {

/// One per record, named after it: `OpId::Exp`, `OpId::ReduceMax`.
enum class OpId : uint16_t {
#define PTL_OP(NAME) NAME,
#include "ir/ops/op_ids.inc"
#undef PTL_OP
};

/// What the argument of a parameter must be.
enum class ParamKind : uint8_t {
  Value,     ///< a value: scalar or array, described by the signature
  Axis,      ///< one axis: constant integer, negative counts from the end
  Axes,      ///< one axis or a list of them: `1`, `[0, 1]`
  IntConst,  ///< integer known at compile time (constants, tunables, dimensions)
  BoolConst, ///< `true` or `false` at compile time
  Dim,       ///< one dimension expression
  Dims,      ///< list of dimension expressions: `[R, C / 2]`
  ElemType,  ///< an element type: `elem: f16`
  ArrayType, ///< an array or scalar type: `f32[i, j]`
  Range,     ///< a range: `r`, `0..n`
  Region,    ///< an index expression `x[…]` whose tensor and indices are taken apart
  Function,  ///< the name of a `fn`
  Enum,      ///< `.name`, one of `enumValues`
  Text       ///< a string literal
};

struct OpParam {
  std::string_view name;
  ParamKind kind;
  bool optional;                ///< may be left out
  bool keywordOnly;             ///< must be named in a call
  bool variadic;                ///< one or more positional arguments; last positional one
  std::string_view defaultText; ///< PTL text of the default, empty: none
  std::span<const std::string_view> enumValues; ///< without the dot, for `Enum`
  std::string_view doc;                         ///< one line
};

enum class ElemPatternKind : uint8_t {
  Variable, ///< `var` indexes `Signature::elemVars`
  Acc,      ///< `acc(variable)`
  Concrete, ///< `concrete`
  Named,    ///< that named by the call (`f16(x)`), the `ElemType` or the `ArrayType` parameter
  Any       ///< any element type, of each operand its own
};

struct ElemPattern {
  ElemPatternKind kind;
  uint8_t var;
  ElemKind concrete;
};

enum class ShapePatternKind : uint8_t {
  Scalar,
  Broadcast, ///< `[*]`
  Dims,      ///< `[.., M, K]`: `hasRest`, then `dims`
  Reduced,   ///< `[reduced]`
  Custom     ///< `[?]`
};

struct ShapePattern {
  ShapePatternKind kind;
  bool hasRest;
  std::span<const uint8_t> dims; ///< indices into `Signature::dimVars`
};

struct TypePattern {
  ElemPattern elem;
  ShapePattern shape;
  bool optional;     ///< operand may be left out
  bool variadic;     ///< operand repeats
  bool fromArrayArg; ///< result is the type given as `ArrayType` argument; the rest is unused
};

struct ElemVar {
  std::string_view name;
  ElemConstraint constraint;
};

struct Signature {
  std::string_view text; ///< as written in the record
  std::span<const ElemVar> elemVars;
  std::span<const std::string_view> dimVars;
  std::span<const TypePattern> operands;
  std::span<const TypePattern> results; ///< empty: no result; two or more: a tuple
};

enum class OpClass : uint8_t {
  Elementwise, ///< one result element per position, from the operands at that position
  Comparison,  ///< elementwise with `bool` result
  Select,
  Reduction,
  Scan,
  Product,
  Shape,
  Gather,
  Scatter,
  Sort,
  Conversion, ///< elementwise between element types
  Creation,
  Random,
  Load,
  Effect
};

enum class OpEffect : uint8_t { Pure, Read, Write, InputOutput };
enum class CoreKind : uint8_t { Cube, Vector, Scalar, Dma, Host };

enum class OpTarget : uint8_t { Cpu, Reference, A2, A3, A5 };
inline constexpr size_t kOpTargetCount = 5;
enum class SupportKind : uint8_t { Native, Emulated, None };

struct OpSupport {
  SupportKind kind;
  std::string_view detail; ///< instruction or method; the reason when `None`
};

/// One built-in operation.
struct OpRecord {
  OpId id;
  std::string_view name;                     ///< as written: `exp`, `+`
  std::span<const std::string_view> aliases; ///< further spellings
  std::string_view mnemonic;                 ///< in the IR, without dialect: `reduce_max`
  std::string_view group;                    ///< file of the record: `elementwise_math`
  std::string_view summary;                  ///< one line
  std::string_view description;              ///< Markdown
  std::span<const OpParam> params;
  std::span<const Signature> signatures;
  std::string_view example; ///< a PTL file that compiles
  OpClass opClass;
  OpEffect effect;
  CoreKind core;
  std::string_view pipe; ///< of the chips: `v`, `m`, `s`, `mte2` …
  std::string_view
      flops; ///< expression over the dimension variables, `in` and `out` (element counts)
  std::string_view bytes; ///< likewise; `io` is all operands and results once
  OpSupport support[kOpTargetCount];
  bool isOperator;  ///< `name` is not an identifier call
  bool customCheck; ///< the signature says part of it; a hand-written check does the rest
};

/// All records, in order of `OpId`.
std::span<const OpRecord> allOps();
const OpRecord &opRecord(OpId id);
/// The records of that name or alias, in order of the table; empty when there is none.
std::span<const OpRecord *const> findOps(std::string_view name);
/// Whether a call with so many positional arguments and those named ones fits the parameters of
/// `op`.
bool acceptsCall(const OpRecord &op, size_t positional,
                 std::span<const std::string_view> named = {});
/// The record that such a call means; null when there is none of the name or none that accepts it.
const OpRecord *findOp(std::string_view name, size_t positional,
                       std::span<const std::string_view> named = {});
/// Spelling of enumerators for messages and dumps: `"cpu"`, `"native"`, `"reduction"` ….
std::string_view opTargetName(OpTarget target);
std::string_view supportName(SupportKind kind);
std::string_view opClassName(OpClass opClass);

} // namespace ptl
