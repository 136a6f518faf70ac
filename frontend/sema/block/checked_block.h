// The block level of the checked tree: the declarations of buffers, events and pipes, and calls of
// instructions. See checked_tree.h. A tile is an expression of type `Buffer` whose extents are
// those of its valid part; its capacity is stored beside them.
#pragma once

#include "frontend/sema/checked_stmt.h"
#include "ir/ops/instruction_attributes.h"
#include "ir/ops/instruction_table.h"

namespace ptl {

/// An end of an event: a pipe, and the kind of core where the event crosses cores.
struct PipeEnd {
  Pipe pipe = Pipe::S;
  std::string core; ///< `aic`, `aiv`; empty: the core of the kernel or section
};

/// The declaration of a `buffer`, `event` or `pipe`. Numbers that were omitted are unknown; the
/// others have a value when the kernel is compiled.
struct BlockObject {
  const Type *carried = nullptr; ///< pipes of programs: the type of values
  Dim count;                     ///< of a rotating buffer or event
  Dim address;                   ///< bytes; of a pipe: of its slots in the consumer's memory
  Dim number;                    ///< first id of an event, first flag of a pipe
  PipeEnd from, to;              ///< events
  Dim depth, hold;               ///< pipes: tiles in flight; tiles that the consumer holds
  int split = 0;        ///< pipes: 0 whole, 1 rows, 2 columns dealt to the two vector cores
  bool toVector = true; ///< pipes: from the cube core to the vector cores
  bool hasPush = false; ///< pipes: some push determines the direction

  bool crosses() const { return from.core != to.core; }
};

enum class BlockOp : uint8_t {
  Instruction,
  Slot,        ///< `x[i]`: ins: tile, number
  Window,      ///< `t[a:b, c:d]`: ins: tile; `offsets`, and the type's extents
  Reshape,     ///< ins: tile
  Bitcast,     ///< ins: tile
  View,        ///< `make_tensor_view(x, offset, shape, strides)`: ins: tensor, offset
  Initialize,  ///< of a pipe, which is `object`
  Push,        ///< ins: tile; `object`
  Pop,         ///< `object`
  Free,        ///< `object`
  Signal,      ///< `object`; ins: number or nothing
  Wait,        ///< likewise
  Barrier,     ///< `pipe`
  BlockIdx,    ///< number of this core group
  BlockNum,    ///< of core groups
  SubBlockIdx, ///< number of this vector core in its group
  SubBlockNum,
  GetVal,      ///< ins: tile, position
  LoadScalar,  ///< ins: tensor, position
  StoreScalar, ///< outs: tensor; ins: position, value
};

struct BlockExpr : ExprOf<ExprKind::Block> {
  BlockOp op = BlockOp::Instruction;
  const InstructionInfo *info = nullptr; ///< of instructions
  std::vector<Expr *> outs, ins;         ///< in the order of the table; null where left out
  Local *object = nullptr;
  Local *value = nullptr; ///< Push, Pop of sections: the variable that is pushed or popped
  Pipe pipe = Pipe::All;
  std::vector<Dim>
      offsets;      ///< Window: row, column; Push, Pop: the number of one of an array of pipes
  std::string core; ///< of the section or kernel that it stands in
  std::vector<std::pair<const InstructionAttribute *, std::string>>
      attributes; ///< IR enumerator or number
};

/// The type of elements and the extents of a tile.
inline bool isTile(const Type *type) { return type->kind == TypeKind::Buffer; }

/// The names that can be called at block level: instructions as manual kernels spell them, and the
/// other calls.
const std::vector<std::string> &blockCallNames();
/// `tmatmul_acc` for `tmatmul.acc`.
std::string surfaceName(const InstructionInfo &info);

} // namespace ptl
