// Operations of the block level that are not tile instructions: views, buffers, queues between
// cores, synchronisation.
#ifndef PTL_IR_DIALECT_BLOCK
#define PTL_IR_DIALECT_BLOCK

include "ir/dialect/pto_types.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Pto_Op<string mnemonic, list<Trait> traits = []> : Op<Pto_Dialect, mnemonic, traits>;
/// An operation with a tile as result, which is printed under the name in its location,
/// `loc("acc"(...))`.
class Pto_NamedOp<string mnemonic, list<Trait> traits = []>
    : Pto_Op<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])>;

// ---- global memory --------------------------------------------------------------------------------------

def Pto_AddPtrOp : Pto_Op<"addptr", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "a pointer some elements further";
  let arguments = (ins Pto_PtrType:$pointer, Index:$offset);
  let results = (outs Pto_PtrType:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` qualified(type($pointer)) `->` qualified(type($result))";
}
def Pto_LoadScalarOp : Pto_Op<"load_scalar", [MemoryEffects<[MemRead]>]> {
  let summary = "one element of global memory";
  let arguments = (ins Pto_PtrType:$pointer, Index:$offset);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$pointer `[` $offset `]` attr-dict `:` qualified(type($pointer)) `->` type($value)";
}
def Pto_StoreScalarOp : Pto_Op<"store_scalar", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes one element of global memory";
  let arguments = (ins Pto_PtrType:$pointer, Index:$offset, AnyType:$value);
  let assemblyFormat = "$value `,` $pointer `[` $offset `]` attr-dict `:` qualified(type($pointer)) `,` type($value)";
}
def Pto_MakeTensorViewOp : Pto_NamedOp<"make_tensor_view", [Pure, AttrSizedOperandSegments]> {
  let summary = "an array in global memory, with strides in elements";
  let arguments = (ins Pto_PtrType:$pointer, Variadic<Index>:$shape, Variadic<Index>:$strides,
                       OptionalAttr<Pto_LayoutAttr>:$layout);
  let results = (outs Pto_TensorViewType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Pto_PartitionViewOp : Pto_NamedOp<"partition_view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a box of an array in global memory";
  let arguments = (ins Pto_TensorViewType:$source, Variadic<Index>:$offsets, Variadic<Index>:$sizes);
  let results = (outs Pto_PartitionViewType:$result);
  let assemblyFormat = [{
    $source `,` `offsets` `=` `[` $offsets `]` `,` `sizes` `=` `[` $sizes `]` attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

// ---- buffers --------------------------------------------------------------------------------------------

def Pto_AllocTileOp : Pto_NamedOp<"alloc_tile", [AttrSizedOperandSegments, MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in on-chip memory";
  let description = [{
    `addr` is the byte address in its memory, once buffers are placed. `valid_row` and `valid_col` are there exactly where the
    type says `?`. The contents are undefined.
  }];
  let arguments = (ins Optional<I64>:$addr, Optional<Index>:$valid_row, Optional<Index>:$valid_col);
  let results = (outs Pto_TileBufType:$result);
  let assemblyFormat = [{
    (`addr` `=` $addr^)? (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}
def Pto_AllocMultiTileOp : Pto_NamedOp<"alloc_multi_tile", [MemoryEffects<[MemAlloc]>]> {
  let summary = "several equal buffers, one behind the other, used in turn";
  let arguments = (ins Optional<I64>:$addr);
  let results = (outs Pto_MultiTileBufType:$result);
  let assemblyFormat = "(`addr` `=` $addr^)? attr-dict `:` qualified(type($result))";
}
def Pto_MultiTileGetOp : Pto_NamedOp<"multi_tile_get", [AttrSizedOperandSegments, Pure]> {
  let summary = "the buffer of a slot; slots are counted modulo their number";
  let arguments = (ins Pto_MultiTileBufType:$source, Index:$slot, Optional<Index>:$valid_row, Optional<Index>:$valid_col);
  let results = (outs Pto_TileBufType:$result);
  let assemblyFormat = [{
    $source `[` $slot `]` (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
}
// The results of these share the bytes of their source. `valid_row` and `valid_col` are there exactly where the type of the
// result says `?`.
def Pto_SubsetOp : Pto_NamedOp<"subset", [AttrSizedOperandSegments, Pure]> {
  let summary = "a window into a tile, at a row and a column; as large as the type of the result";
  let arguments = (ins Pto_TileBufType:$source, Index:$row, Index:$col, Optional<Index>:$valid_row,
                       Optional<Index>:$valid_col);
  let results = (outs Pto_TileBufType:$result);
  let assemblyFormat = [{
    $source `[` $row `,` $col `]` (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
}
class Pto_AliasOp<string mnemonic, string sum> : Pto_NamedOp<mnemonic, [AttrSizedOperandSegments, Pure]> {
  let summary = sum;
  let arguments = (ins Pto_TileBufType:$source, Optional<Index>:$valid_row, Optional<Index>:$valid_col);
  let results = (outs Pto_TileBufType:$result);
  let assemblyFormat = [{
    $source (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict
    `:` qualified(type($source)) `->` qualified(type($result))
  }];
}
def Pto_TReshapeOp : Pto_AliasOp<"treshape", "the same bytes as another shape of the same place">;
def Pto_BitcastOp : Pto_AliasOp<"bitcast", "the same bytes as another element type">;
def Pto_SetValidShapeOp : Pto_Op<"set_validshape"> {
  let summary = "changes the valid part of a tile from here on";
  let arguments = (ins Pto_TileBufType:$source, Index:$valid_row, Index:$valid_col);
  let assemblyFormat = "$source `,` $valid_row `,` $valid_col attr-dict `:` qualified(type($source))";
}
def Pto_TGetValOp : Pto_Op<"tgetval", [MemoryEffects<[MemRead]>]> {
  let summary = "one element of a tile as a scalar; row-major position";
  let arguments = (ins Pto_TileBufType:$source, Index:$offset);
  let results = (outs AnyType:$value);
  let assemblyFormat = [{
    `ins` `(` $source `,` $offset `:` qualified(type($source)) `,` type($offset) `)` `outs` `:` type($value) attr-dict
  }];
}

// ---- who runs -------------------------------------------------------------------------------------------

class Pto_IdOp<string mnemonic, string sum> : Pto_Op<mnemonic, [Pure]> {
  let summary = sum;
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `->` type($result)";
}
def Pto_GetBlockIdxOp : Pto_IdOp<"get_block_idx", "number of this core group">;
def Pto_GetBlockNumOp : Pto_IdOp<"get_block_num", "number of core groups that run the kernel">;
def Pto_GetSubBlockIdxOp : Pto_IdOp<"get_subblock_idx", "number of this vector core in its group">;
def Pto_GetSubBlockNumOp : Pto_IdOp<"get_subblock_num", "number of vector cores in a group">;

// Stands in the branch where a check has failed. The write effect keeps it.
def Pto_TrapOp : Pto_Op<"trap", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the kernel: a check has failed";
  let description = "`status`, `message` and `values` as in `ptl.check`.";
  let arguments = (ins StrAttr:$status, StrAttr:$message, Variadic<AnyType>:$values);
  let assemblyFormat = "$status $message (`(` $values^ `:` type($values) `)`)? attr-dict";
}

// ---- queues between cube and vector cores -----------------------------------------------------------------

// `dir_mask`: 1 cube to vector, 2 vector to cube. `slot_size`: bytes of a whole tile, before it is split. The k-th pop gets
// the k-th push. `flag_base`, and the next, are the cross-core flags it uses.
class Pto_InitPipeOp<string mnemonic, dag operands, string operandFormat> : Pto_NamedOp<mnemonic, []> {
  let arguments = !con((ins I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num,
                            OptionalAttr<I32Attr>:$local_slot_num, OptionalAttr<I32Attr>:$flag_base,
                            OptionalAttr<BoolAttr>:$nosplit), operands);
  let results = (outs Pto_PipeType:$pipe);
  let assemblyFormat = [{
    `{` `dir_mask` `=` $dir_mask `,` `slot_size` `=` $slot_size `,` `slot_num` `=` $slot_num
    `` custom<PipeOptions>($local_slot_num, $flag_base, $nosplit) `}` `(`
  }] # operandFormat # [{ `)` attr-dict `->` qualified(type($pipe)) }];
}
def Pto_InitializeL2G2LPipeOp : Pto_InitPipeOp<"initialize_l2g2l_pipe",
    (ins Pto_PtrType:$gm_addr, I32:$local_addr),
    "$gm_addr `:` qualified(type($gm_addr)) `,` $local_addr `:` type($local_addr)"> {
  let summary = "a queue through global memory; the consumer loads into `local_slot_num` slots at `local_addr`";
}
def Pto_InitializeL2LPipeOp : Pto_InitPipeOp<"initialize_l2l_pipe", (ins I32:$local_addr),
    "$local_addr `:` type($local_addr)"> {
  let summary = "a queue in the consumer's memory, at `local_addr`";
}
// Where the consumer of a queue keeps its slots. `auto`: not placed yet; then `base` is the byte address.
def Pto_ReserveBufferOp : Pto_Op<"reserve_buffer"> {
  let summary = "bytes of the consumer's memory that a queue uses";
  let arguments = (ins StrAttr:$name, I32Attr:$size, StrAttr:$location, BoolAttr:$autoAlloc, OptionalAttr<I32Attr>:$base);
  let results = (outs I32:$addr);
  let assemblyFormat = [{
    `{` `name` `=` $name `,` `size` `=` $size `,` `location` `=` custom<AddressSpace>($location) `,` `auto` `=` $autoAlloc
    (`,` `base` `=` $base^)? `}` attr-dict `->` type($addr)
  }];
}
def Pto_ImportReservedBufferOp : Pto_Op<"import_reserved_buffer"> {
  let summary = "the address that the consumer reserved, for the producer of a queue in the consumer's memory";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$peer_func);
  let results = (outs I32:$addr);
  let assemblyFormat = "`{` `name` `=` $name `,` `peer_func` `=` $peer_func `}` attr-dict `->` type($addr)";
}
class Pto_QueueOp<string mnemonic, string sum> : Pto_Op<mnemonic> {
  let summary = sum;
  let arguments = (ins Pto_TileBufType:$tile, Pto_PipeType:$pipe, I8Attr:$split);
  let assemblyFormat = [{
    `(` $tile `,` $pipe `:` qualified(type($tile)) `,` qualified(type($pipe)) `)` `{` `split` `=` $split `}` attr-dict
  }];
}
// `split`: 0 whole, 1 rows, 2 columns dealt to the two vector cores.
def Pto_TPushOp : Pto_QueueOp<"tpush", "puts a tile into a queue; waits while it is full">;
def Pto_TPopOp : Pto_QueueOp<"tpop", "binds a declared tile to the next slot of a queue; waits while it is empty">;
def Pto_TFreeOp : Pto_Op<"tfree"> {
  let summary = "gives the oldest slot that was popped back to the producer";
  let arguments = (ins Pto_PipeType:$pipe, I8Attr:$split);
  let assemblyFormat = "`(` $pipe `:` qualified(type($pipe)) `)` `{` `split` `=` $split `}` attr-dict";
}
def Pto_DeclareTileOp : Pto_NamedOp<"declare_tile", [AttrSizedOperandSegments]> {
  let summary = "a tile whose address a pop gives";
  let arguments = (ins Optional<Index>:$valid_row, Optional<Index>:$valid_col);
  let results = (outs Pto_TileBufType:$tile);
  let assemblyFormat = [{
    (`valid_row` `=` $valid_row^)? (`valid_col` `=` $valid_col^)? attr-dict `->` qualified(type($tile))
  }];
}

// ---- order between pipes ----------------------------------------------------------------------------------

// `why` on an operation of this group names the dependence that forced it, for people.
class Pto_FlagOp<string mnemonic, string sum> : Pto_Op<mnemonic> {
  let summary = sum;
  let arguments = (ins Pto_PipeAttr:$src_pipe, Pto_PipeAttr:$dst_pipe, Pto_EventAttr:$event_id);
  let assemblyFormat = "`[` $src_pipe `,` $dst_pipe `,` $event_id `]` attr-dict";
}
def Pto_SetFlagOp : Pto_FlagOp<"set_flag", "sets an event when the source pipe has done all before">;
def Pto_WaitFlagOp : Pto_FlagOp<"wait_flag", "the destination pipe waits for an event and clears it">;
class Pto_DynFlagOp<string mnemonic, string sum> : Pto_Op<mnemonic> {
  let summary = sum;
  let arguments = (ins Pto_PipeAttr:$src_pipe, Pto_PipeAttr:$dst_pipe, Index:$event_id);
  let assemblyFormat = "`[` $src_pipe `,` $dst_pipe `,` $event_id `]` attr-dict";
}
def Pto_SetFlagDynOp : Pto_DynFlagOp<"set_flag_dyn", "set_flag with a computed id">;
def Pto_WaitFlagDynOp : Pto_DynFlagOp<"wait_flag_dyn", "wait_flag with a computed id">;
def Pto_BarrierOp : Pto_Op<"barrier"> {
  let summary = "a pipe finishes what it has before it goes on; PIPE_ALL: all pipes of the core";
  let arguments = (ins Pto_PipeAttr:$pipe);
  let assemblyFormat = "$pipe attr-dict";
}

#endif
