// The attributes of instructions, besides operands.
#ifndef PTL_INSTRUCTION_ATTRIBUTES
#define PTL_INSTRUCTION_ATTRIBUTES

include "ir/ops/instructions/instruction_base.td"

def CompareMode : Choice<"cmp", "cmpMode", "#pto<cmp $>", "CmpMode::", "Upper", "CmpMode::EQ",
                         ["eq", "ne", "lt", "le", "gt", "ge"]>;
def RoundMode : Choice<"round", "rmode", "#pto<round_mode $>", "RoundMode::", "Cast", "RoundMode::CAST_RINT",
                       ["none=NONE", "rint=RINT", "round=ROUND", "floor=FLOOR", "ceil=CEIL", "trunc=TRUNC", "odd=ODD",
                        "cast_rint=CAST_RINT"]>;
def SaturationMode : Choice<"saturate", "sat_mode", "#pto<saturation_mode $>", "SaturationMode::", "Same", "",
                            ["yes=ON", "no=OFF", "off=OFF"]>;
def AtomicMode : Choice<"atomic", "atomicType", "#pto<atomic_type $>", "AtomicType::", "Camel", "AtomicType::AtomicNone",
                        ["none=atomic_none", "add=atomic_add"]>;
def ReluMode : Choice<"relu", "reluPreMode", "#pto<relu_pre_mode $>", "ReluPreMode::", "Camel", "ReluPreMode::NoRelu",
                      ["none=no_relu", "normal=normal_relu"]>;
def VectorMode : Choice<"vec", "accToVecMode", "#pto.acc_to_vec_mode<$>", "AccToVecMode::", "Camel", "",
                        ["vec0=single_mode_vec0", "vec1=single_mode_vec1", "rows=dual_mode_split_m",
                         "cols=dual_mode_split_n"]>;
def MaskPattern : Choice<"pattern", "maskPattern", "#pto.mask_pattern<$>", "MaskPattern::", "Same", "MaskPattern::P1111",
                         ["p0101=P0101", "p1010=P1010", "p0001=P0001", "p0010=P0010", "p0100=P0100", "p1000=P1000",
                          "p1111=P1111"]>;
def QuantMode : Choice<"quant", "quant_type", "#pto<quant_type $>", "QuantType::", "Same", "QuantType::INT8_SYM",
                       ["sym=INT8_SYM", "asym=INT8_ASYM"]>;
def IsBinary : Flag<"binary", "isBinary", "false">;
def IsExhausted : Flag<"exhausted", "exhausted", "false">;
def IsDescending : Flag<"descending", "descending", "0">;
def UpperOrLower : Number<"upper", "upperOrLower", "0">;

#endif // PTL_INSTRUCTION_ATTRIBUTES
