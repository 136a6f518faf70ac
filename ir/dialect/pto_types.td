// The types and attributes of the `pto` dialect: memory semantics. Spelled as PTOAS reads them.
#ifndef PTL_IR_DIALECT_PTO_TYPES
#define PTL_IR_DIALECT_PTO_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Pto_Dialect : Dialect {
  let name = "pto";
  let cppNamespace = "::ptl::pto";
  let summary = "the block level: buffers with addresses, pipes, events, one operation per instruction";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  // Instructions are dynamic operations: they are registered from the table and have no class each.
  let isExtensible = 1;
  let extraClassDeclaration = [{
    void registerBlockOps();
    void registerInstructions();
  }];
}

// ---- attributes -----------------------------------------------------------------------------------------

class Pto_Enum<string name, list<string> cases>
    : I32EnumAttr<name, "", !foreach(i, !range(!size(cases)), I32EnumAttrCase<cases[i], i>)> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::ptl::pto";
}
/// Spelled `#pto.name<VALUE>`, inside the brackets of an operation `<VALUE>`.
class Pto_BracketAttr<Pto_Enum enum, string mnemonic> : EnumAttr<Pto_Dialect, enum, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}
/// Spelled `#pto<name VALUE>`.
class Pto_PlainAttr<Pto_Enum enum, string mnemonic> : EnumAttr<Pto_Dialect, enum, mnemonic>;

def Pto_PipeEnum : Pto_Enum<"PipeKind", ["PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3",
                                          "PIPE_FIX", "PIPE_ALL"]>;
def Pto_PipeAttr : Pto_BracketAttr<Pto_PipeEnum, "pipe">;
def Pto_EventEnum : Pto_Enum<"EventId", !foreach(i, !range(16), "EVENT_ID" # i)>;
def Pto_EventAttr : Pto_BracketAttr<Pto_EventEnum, "event">;
def Pto_KernelKindEnum : Pto_Enum<"KernelKind", ["cube", "vector"]>;
def Pto_KernelKindAttr : Pto_BracketAttr<Pto_KernelKindEnum, "kernel_kind">;
def Pto_LayoutEnum : Pto_Enum<"ViewLayout", ["nd", "dn", "nz", "mx_a_nd", "mx_b_dn"]>;
def Pto_LayoutAttr : Pto_BracketAttr<Pto_LayoutEnum, "layout">;
def Pto_MaskPatternEnum : Pto_Enum<"MaskPattern", ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"]>;
def Pto_MaskPatternAttr : Pto_BracketAttr<Pto_MaskPatternEnum, "mask_pattern">;
def Pto_AccToVecEnum : Pto_Enum<"AccToVecMode", ["single_mode_vec0", "single_mode_vec1", "dual_mode_split_m",
                                                  "dual_mode_split_n"]>;
def Pto_AccToVecAttr : Pto_BracketAttr<Pto_AccToVecEnum, "acc_to_vec_mode">;

def Pto_CmpEnum : Pto_Enum<"CmpMode", ["eq", "ne", "lt", "le", "gt", "ge"]>;
def Pto_CmpAttr : Pto_PlainAttr<Pto_CmpEnum, "cmp">;
def Pto_RoundEnum : Pto_Enum<"RoundMode", ["NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD", "CAST_RINT"]>;
def Pto_RoundAttr : Pto_PlainAttr<Pto_RoundEnum, "round_mode">;
def Pto_SaturationEnum : Pto_Enum<"SaturationMode", ["ON", "OFF"]>;
def Pto_SaturationAttr : Pto_PlainAttr<Pto_SaturationEnum, "saturation_mode">;
def Pto_AtomicEnum : Pto_Enum<"AtomicType", ["atomic_none", "atomic_add"]>;
def Pto_AtomicAttr : Pto_PlainAttr<Pto_AtomicEnum, "atomic_type">;
def Pto_ReluEnum : Pto_Enum<"ReluPreMode", ["no_relu", "normal_relu"]>;
def Pto_ReluAttr : Pto_PlainAttr<Pto_ReluEnum, "relu_pre_mode">;
def Pto_QuantEnum : Pto_Enum<"QuantType", ["INT8_SYM", "INT8_ASYM"]>;
def Pto_QuantAttr : Pto_PlainAttr<Pto_QuantEnum, "quant_type">;

// ---- types ----------------------------------------------------------------------------------------------

class Pto_Type<string name, string typeMnemonic> : TypeDef<Pto_Dialect, name> { let mnemonic = typeMnemonic; }

def Pto_PtrType : Pto_Type<"Ptr", "ptr"> {
  let summary = "a pointer into global memory";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

class Pto_ViewType<string name, string typeMnemonic> : Pto_Type<name, typeMnemonic> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{ int64_t getRank() const { return static_cast<int64_t>(getShape().size()); } }];
}
def Pto_TensorViewType : Pto_ViewType<"TensorView", "tensor_view"> {
  let summary = "an array in global memory: pointer, extents, strides";
}
def Pto_PartitionViewType : Pto_ViewType<"PartitionView", "partition_tensor_view"> {
  let summary = "a box of an array in global memory";
}

def Pto_TileBufType : Pto_Type<"TileBuf", "tile_buf"> {
  let summary = "a tile in on-chip memory";
  let description = [{
    `!pto.tile_buf<vec, 64x128xf32, valid=?x128, blayout=row_major, slayout=none_box, fractal=512, pad=0>`: place, capacity
    in rows and columns, element type, the valid part (a prefix; `?`: known at run time), and the layout: order of the boxes,
    order inside a box, bytes of a box. What has its default (valid = capacity, row_major, none_box, 512, 0) is left out.
  }];
  let parameters = (ins "::ptl::ir::Place":$place, "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                        "int64_t":$validRows, "int64_t":$validCols, "::ptl::pto::Layout":$layout);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Bytes of the whole buffer.
    int64_t getBytes() const;
    bool hasDynamicValid() const;
    TileBufType withValid(int64_t validRows, int64_t validCols) const;
  }];
}

def Pto_MultiTileBufType : Pto_Type<"MultiTileBuf", "multi_tile_buf"> {
  let summary = "a number of equal tiles that are used in turn";
  let parameters = (ins "::ptl::pto::TileBufType":$slot, "int64_t":$count);
  let assemblyFormat = "`<` qualified($slot) `,` `count` `=` $count `>`";
}

def Pto_PipeType : Pto_Type<"PipeHandle", "pipe"> {
  let summary = "a queue of tiles between a cube core and its vector cores";
}

#endif
