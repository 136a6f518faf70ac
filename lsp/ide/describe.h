// Describes types, sizes, declarations and built-ins in words, for hovers, hints, completion and
// signature help.
#pragma once

#include "lsp/ide/workspace.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::ide {

/// A piece of a label; `definition` is the declaration of the name in it, without a file if there
/// is none.
struct LabelPart {
  std::string text;
  Span definition;
};
std::string joined(const std::vector<LabelPart> &parts);

/// The text that `toString` of types.h returns, in pieces with the declarations of structs, ranges
/// and dimensions.
std::vector<LabelPart> typeParts(const DimContext &dims, const Type &type);

/// The values of tunables that no schedule sets.
DimSubstitution tunableDefaults(DimContext &dims, const CallableDecl *callable);

/// The size of a value in bytes, by capacity where that is known; unknown if the value has no fixed
/// size.
Dim byteSize(DimContext &dims, const Type &type);
/// `128 KiB`, `2,000 B`.
std::string bytesText(int64_t bytes);
/// The size of a value as text, tunables at their defaults: `128 KiB`, `256*D B`; empty if unknown.
std::string sizeText(DimContext &dims, const Type &type, const DimSubstitution &defaults);
/// The size as a number, if these defaults determine it.
std::optional<int64_t> constantSize(DimContext &dims, const Type &type,
                                    const DimSubstitution &defaults);

/// The callable of a checked chunk around a byte of it; null if there is none.
const CallableDecl *callableAt(const CheckedProgram &program, uint32_t offset);

/// The placed program around a byte of a checked chunk, up to its first contradiction; null if
/// there is none.
const PlacedProgram *placedAt(const ChunkCheck &check, uint32_t offset);
/// The placed value of a name or an expression; nothing if it is unknown.
std::optional<ValueId> placedValue(const PlacedProgram &placed, const Local &local);
std::optional<ValueId> placedValue(const PlacedProgram &placed, const Expr &expr);
/// The bytes of a part's share: `128 KiB`, `4*B*cdiv(F, chips) B`.
std::string partBytesText(const DimContext &dims, const PlacedProgram &placed, ValueId value);

/// The number of buffers of a local. A value that the body of a pipelined loop loads has one buffer
/// per overlapping iteration. `name` and `value` are those of its `let`.
int64_t pipelineCopies(const CheckedProgram &program, const Tree &tree, NodeId name, NodeId value);

/// Value of a constant as PTL writes it; empty if it has none.
std::string valueText(const Expr &expr);

/// A parameter in a signature: its bytes in the label.
struct SignatureParam {
  std::string name;
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string doc; ///< Markdown
  bool mustBeNamed = false;
};
struct SignatureLabel {
  std::string text;
  std::vector<SignatureParam> params;
};

} // namespace ptl::ide
