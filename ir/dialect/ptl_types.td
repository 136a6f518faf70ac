// The types of the `ptl` dialect.
#ifndef PTL_IR_DIALECT_PTL_TYPES
#define PTL_IR_DIALECT_PTL_TYPES

include "ir/ops/op_base.td"
include "mlir/IR/AttrTypeBase.td"

class Ptl_Type<string name, string typeMnemonic> : TypeDef<Ptl_Dialect, name> {
  let mnemonic = typeMnemonic;
}

class Ptl_ShapedType<string name, string typeMnemonic> : Ptl_Type<name, typeMnemonic> {
  let parameters = (ins
    "::mlir::Type":$elementType,
    ArrayRefParameter<"::ptl::ir::Extent">:$extents,
    "::ptl::ir::Place":$place);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return static_cast<int64_t>(getExtents().size()); }
  }];
}

def Ptl_ArrayType : Ptl_ShapedType<"Array", "array"> {
  let summary = "an array value: tensor or tile";
  let description = [{
    `!ptl.array<f32[i:128, 64, "T - S"], vec>`: element type, one extent per axis, place (left out when not
    decided). An extent is a number, or the name of a length that is known when the program runs; names that
    are equal stand for equal lengths. `:128` after a name is the capacity, the static bound of the length.
    Arrays are immutable; the length of an axis as an SSA value is `ptl.dim`.
  }];
}

def Ptl_RefType : Ptl_ShapedType<"Ref", "ref"> {
  let summary = "mutable storage of an array: outputs, inouts and intermediates";
  let description = [{
    Written by `ptl.store`, read by `ptl.load`. Spelled like an array: `!ptl.ref<f32[N, 64], gm>`.
  }];
}

#endif
