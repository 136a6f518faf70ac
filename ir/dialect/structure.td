// Structural operations of the `ptl` dialect: storage, boxes of arrays, the grid, checks. They are
// not built-ins of the language (whose records are in `ir/ops`); the builder and the passes create
// them.
#ifndef PTL_IR_DIALECT_STRUCTURE
#define PTL_IR_DIALECT_STRUCTURE

include "ir/dialect/ptl_types.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"

class Ptl_StructureOp<string mnemonic, list<Trait> traits = []> : Ptl_Op<mnemonic, traits>;

def Ptl_DimOp : Ptl_StructureOp<"dim", [Pure]> {
  let summary = "the length of an axis";
  let arguments = (ins AnyTypeOf<[Ptl_ArrayType, Ptl_RefType]>:$source, I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Ptl_AllocOp : Ptl_StructureOp<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "storage of an intermediate array; freed after its last use";
  let arguments = (ins Variadic<Index>:$lengths);
  let results = (outs Ptl_RefType:$result);
  let description = "`lengths` has one operand per extent that is not a number.";
  let assemblyFormat = "`(` $lengths `)` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Ptl_ViewOp : Ptl_StructureOp<"view", [Pure]> {
  let summary = "storage under another shape: the same elements, row-major";
  let description = [{
    `lengths` has one operand per extent that is not a number; their product is the number of elements. The storage has no
    other users, but for those that ask for its lengths, so what is written under one shape need not be known under the other.
  }];
  let arguments = (ins Ptl_RefType:$ref, Variadic<Index>:$lengths);
  let results = (outs Ptl_RefType:$result);
  let assemblyFormat = "$ref `(` $lengths `)` attr-dict `:` type($ref) `->` type($result)";
  let hasVerifier = 1;
}

def Ptl_ConstantOp : Ptl_StructureOp<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "an unsigned scalar constant; `arith.constant` has the others";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $value";
  let builders = [OpBuilder<(ins "::mlir::TypedAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
  let hasFolder = 1;
}

// A box of a base: per axis an offset, a length and a step (no `steps`: all 1). Axes in `dropped` have length 1
// and vanish from the result.
def Ptl_LoadOp : Ptl_StructureOp<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "reads a box of storage as an array value (a scalar when all axes are dropped)";
  let arguments = (ins Ptl_RefType:$ref, Variadic<Index>:$offsets, Variadic<Index>:$lengths,
                       Variadic<Index>:$steps, Optional<AnyType>:$outside, DenseI64ArrayAttr:$dropped);
  let results = (outs AnyType:$result);
  let description = [{
    With `outside`, positions beyond the edges of the base (also negative ones) read as that scalar; without, the
    box lies inside (the builder has proved it or put a `ptl.check` before).
  }];
  let assemblyFormat = [{
    $ref `[` $offsets `]` `[` $lengths `]` (`step` `[` $steps^ `]`)? (`outside` $outside^ `:` type($outside))?
    `drop` $dropped attr-dict `:` type($ref) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ptl_SliceOp : Ptl_StructureOp<"slice", [AttrSizedOperandSegments, Pure]> {
  let summary = "a box of an array value (a scalar when all axes are dropped)";
  let arguments = (ins Ptl_ArrayType:$source, Variadic<Index>:$offsets, Variadic<Index>:$lengths,
                       Variadic<Index>:$steps, Optional<AnyType>:$outside, DenseI64ArrayAttr:$dropped);
  let results = (outs AnyType:$result);
  let description = "As `ptl.load`, of a value.";
  let assemblyFormat = [{
    $source `[` $offsets `]` `[` $lengths `]` (`step` `[` $steps^ `]`)? (`outside` $outside^ `:` type($outside))?
    `drop` $dropped attr-dict `:` type($source) `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Ptl_StoreOp : Ptl_StructureOp<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite, MemRead]>]> {
  let summary = "writes a box of storage";
  let arguments = (ins AnyType:$value, Ptl_RefType:$ref, Variadic<Index>:$offsets, Variadic<Index>:$lengths,
                       Variadic<Index>:$steps, Optional<Ptl_ArrayType>:$index, DenseI64ArrayAttr:$dropped,
                       OptionalAttr<I64Attr>:$indexAxis, OptionalAttr<StrAttr>:$atomic);
  let description = [{
    The value (array or scalar) broadcasts to the box. With `index`, a 1-D integer array, position `p` of axis
    `indexAxis` of the box goes to position `index[p]` of the base (scatter); its length is that of the axis and
    its offset is 0. `atomic` is `add`, `max` or `min`: each element is combined with what is there.
  }];
  let assemblyFormat = [{
    $value `,` $ref `[` $offsets `]` `[` $lengths `]` (`step` `[` $steps^ `]`)? (`scatter` $index^ `:` type($index))?
    `drop` $dropped attr-dict `:` type($value) `,` type($ref)
  }];
  let hasVerifier = 1;
}

def Ptl_InsertOp : Ptl_StructureOp<"insert", [AttrSizedOperandSegments, Pure]> {
  let summary = "an array value with a box replaced";
  let arguments = (ins AnyType:$value, Ptl_ArrayType:$dest, Variadic<Index>:$offsets, Variadic<Index>:$lengths,
                       Variadic<Index>:$steps, Optional<Ptl_ArrayType>:$index, DenseI64ArrayAttr:$dropped,
                       OptionalAttr<I64Attr>:$indexAxis);
  let results = (outs Ptl_ArrayType:$result);
  let description = "As `ptl.store`, but gives a new value; code generation reuses the storage where it can.";
  let assemblyFormat = [{
    $value `,` $dest `[` $offsets `]` `[` $lengths `]` (`step` `[` $steps^ `]`)? (`scatter` $index^ `:` type($index))?
    `drop` $dropped attr-dict `:` type($value) `,` type($dest) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ptl_NewAxisOp : Ptl_StructureOp<"new_axis", [Pure]> {
  let summary = "inserts axes of extent 1";
  let arguments = (ins Ptl_ArrayType:$source, DenseI64ArrayAttr:$axes);
  let results = (outs Ptl_ArrayType:$result);
  let description = "`axes` are positions in the result, ascending.";
  let assemblyFormat = "$source $axes attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Ptl_TakeOp : Ptl_StructureOp<"take", [Pure]> {
  let summary = "parts of an array by position along an axis";
  let arguments = (ins Ptl_ArrayType:$source, Ptl_ArrayType:$index, I64Attr:$axis);
  let results = (outs Ptl_ArrayType:$result);
  let description = [{
    `index` is an integer array whose positions lie inside `axis`; the result has its axes there. It has one axis, but for the
    CPU after `ptl-partition`. (The built-in `gather` has one position per element instead.)
  }];
  let assemblyFormat = "$source `[` $index `]` `along` $axis attr-dict `:` type($source) `,` type($index) `->` type($result)";
}

def Ptl_CastOp : Ptl_StructureOp<"cast", [Pure]> {
  let summary = "the same array under another description of equal lengths, or at another place";
  let arguments = (ins Ptl_ArrayType:$source);
  let results = (outs Ptl_ArrayType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Ptl_ParallelOp : Ptl_StructureOp<"parallel", [AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects,
                                                  SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a grid of independent iterations; nested directly inside another one it depends on its variables";
  let arguments = (ins Variadic<Index>:$lower, Variadic<Index>:$upper, Variadic<Index>:$steps);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let description = "One block argument of type index per variable, its position. Steps are positive.";
}

def Ptl_LaunchOp : Ptl_StructureOp<"launch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "runs a kernel of the block level on all core groups and waits for it";
  let description = "Its operands are the kernel's arguments: arrays and refs where those are pointers, scalars as they are.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$arguments);
  let assemblyFormat = "$kernel `(` $arguments `:` type($arguments) `)` attr-dict";
}

// ---- the block level inside a grid ---------------------------------------------------------------------

// A grid with the attribute `ptl.manual` is written at block level: its body has operations of the `pto` dialect and scalars, and
// runs once on each core group. The attribute names its kind of core, `aic` or `aiv`, or is empty where sections say it.
def Ptl_PointerOp : Ptl_StructureOp<"pointer", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "where an array lies, for operations of the block level";
  let description = "`role`: what they do with it, `in`, `out` or `inout`.";
  let arguments = (ins AnyTypeOf<[Ptl_ArrayType, Ptl_RefType]>:$array, StrAttr:$role);
  let results = (outs AnyType:$pointer);
  let assemblyFormat = "$array `,` $role attr-dict `:` type($array) `->` type($pointer)";
}
def Ptl_SectionOp : Ptl_StructureOp<"section", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "what one kind of core does in a grid of the block level";
  let arguments = (ins StrAttr:$core);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$core $body attr-dict";
}
def Ptl_QueueOp : Ptl_StructureOp<"queue", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a queue between the cores of a group, opened on both sides";
  let description = [{
    `bytes`: of a whole tile; `part`: of what the consumer pops; `split`: 0 whole, 1 rows, 2 columns dealt to the vector cores.
    What is left out is decided by the machine: `slots` in flight, `held` by the consumer, `base` address, first `flag`.
  }];
  let arguments = (ins StrAttr:$name, BoolAttr:$toVector, I64Attr:$bytes, I64Attr:$part, I64Attr:$split,
                       OptionalAttr<I64Attr>:$slots, OptionalAttr<I64Attr>:$held, OptionalAttr<I64Attr>:$base,
                       OptionalAttr<I64Attr>:$flag);
  let results = (outs AnyType:$pipe);
  let assemblyFormat = "$name attr-dict `->` type($pipe)";
}

def Ptl_YieldOp : Ptl_StructureOp<"yield", [Pure, Terminator, HasParent<"ParallelOp">]> {
  let summary = "ends the body of a grid";
  let assemblyFormat = "attr-dict";
}

// The write effect keeps checks alive and in order with stores; they may still be hoisted by hand.
def Ptl_CheckOp : Ptl_StructureOp<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the program when a condition does not hold";
  let arguments = (ins I1:$condition, StrAttr:$status, StrAttr:$message, Variadic<AnyType>:$values);
  let description = [{
    `status` names what failed: `assert`, `bounds`, `where`, `data_fact`, `arithmetic`. In `message`, `{0}`, `{1}` …
    stand for the scalar `values`, `{{` for a brace. File and line come from the location.
  }];
  let assemblyFormat = "$condition `,` $status $message (`(` $values^ `:` type($values) `)`)? attr-dict";
  let hasCanonicalizeMethod = 1;
}

#endif
