// The schema of op records. One record describes a built-in operation completely; mlir-tblgen
// generates the IR class from it, ptl-tblgen the op table of the front end, the documentation and
// the word lists. Text of `signatures` follows the grammar in ir/ops/op_table.h.
#ifndef PTL_OP_BASE
#define PTL_OP_BASE

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/ops/attributes.td"

def Ptl_Dialect : Dialect {
  let name = "ptl";
  let cppNamespace = "::ptl::ir";
  let summary = "arrays with symbolic lengths, at tensor and tile level";
  let useDefaultTypePrinterParser = 1;
  list<Ptl_Attribute> attributes = Ptl_Attributes;
  let discardableAttrs = !dag(ins, !foreach(a, attributes, a.type.storageType), !foreach(a, attributes, a.name));
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerStructureOps();
    void registerBuiltinOps();
    void registerAttributes();
    /// By the name of a discardable attribute: its index in the attribute table.
    llvm::DenseMap<mlir::StringAttr, unsigned> attributeNumbers;
  }];
}

/// Base of every operation of the dialect, built-in or structural.
class Ptl_Op<string mnemonic, list<Trait> traits = []> : Op<Ptl_Dialect, mnemonic, traits>;

/// A value of the language in the IR: an array, or a scalar of a builtin type.
def Ptl_Value : Type<CPred<"true">, "array or scalar">;

// ---- parameters ---------------------------------------------------------------------------------------

/// A parameter of a built-in. `kind` is an enumerator of `ParamKind`; `ir` holds at most one constraint, which
/// makes the parameter an operand or attribute of the IR class under the name `irName`.
class Ptl_Param<string paramName, string paramKind, string docLine, list<Constraint> irConstraint = []> {
  string name = paramName;
  string kind = paramKind;
  string doc = docLine;
  list<Constraint> ir = irConstraint;
  string irName = paramName;
  bit optional = 0;
  bit keyword = 0;
  bit variadic = 0;
  string default = "";
  list<string> values = [];
}
/// A parameter that must be named in a call and has a default.
class Ptl_Keyword<string paramName, string paramKind, string defaultText, string docLine,
                  list<Constraint> irConstraint = []>
    : Ptl_Param<paramName, paramKind, docLine, irConstraint> {
  let optional = 1;
  let keyword = 1;
  let default = defaultText;
}
class Ptl_Named<string paramName, string paramKind, string docLine, list<Constraint> irConstraint = [],
                string irText = paramName>
    : Ptl_Param<paramName, paramKind, docLine, irConstraint> {
  let keyword = 1;
  let irName = irText;
}
class Ptl_Opt<string paramName, string paramKind, string docLine, list<Constraint> irConstraint = []>
    : Ptl_Param<paramName, paramKind, docLine, irConstraint> {
  let optional = 1;
}
class Ptl_OptNamed<string paramName, string paramKind, string docLine, list<Constraint> irConstraint = []>
    : Ptl_Opt<paramName, paramKind, docLine, irConstraint> {
  let keyword = 1;
}
class Ptl_In<string n, string doc> : Ptl_Param<n, "Value", doc, [Ptl_Value]>;
class Ptl_Ins<string n, string doc> : Ptl_Param<n, "Value", doc, [Variadic<Ptl_Value>]> {
  let variadic = 1;
}
class Ptl_OptIns<string n, string doc> : Ptl_Ins<n, doc> { let optional = 1; }
class Ptl_Dim<string n, string doc> : Ptl_Param<n, "Dim", doc, [Variadic<Index>]> {
  let irName = "lengths";
}
class Ptl_Axis<string docLine> : Ptl_Param<"axis", "Axis", docLine, [I64Attr]> { let keyword = 1; }
class Ptl_LastAxis<string docLine> : Ptl_Keyword<"axis", "Axis", "-1", docLine, [I64Attr]>;
class Ptl_Axes<string docLine>
    : Ptl_Param<"axis", "Axes", docLine, [OptionalAttr<DenseI64ArrayAttr>]> {
  let optional = 1;
  let keyword = 1;
  let irName = "axes";
}
class Ptl_Flag<string n, string docLine> : Ptl_Keyword<n, "BoolConst", "false", docLine, [BoolAttr]>;
class Ptl_Choice<string n, list<string> choices, string defaultName, string docLine>
    : Ptl_Keyword<n, "Enum", "." # defaultName, docLine, [StrAttr]> {
  let values = choices;
}
/// New lengths of a result: its dynamic ones are `index` operands of the IR class, in order.
class Ptl_Dims<string n, string docLine> : Ptl_Param<n, "Dims", docLine, [Variadic<Index>]> {
  let irName = "lengths";
}
class Ptl_ArrayType<string docLine> : Ptl_Param<"of", "ArrayType", docLine, [Variadic<Index>]> {
  let irName = "lengths";
}
class Ptl_Text<string n, string docLine> : Ptl_Param<n, "Text", docLine, [StrAttr]>;

// ---- records ------------------------------------------------------------------------------------------

/// The instructions of vector cores that do an operation, named as in `InstructionId`; an empty name: there is none. An
/// elementwise one has them for tiles, for a tile and a scalar, and for a tile with a column or a row; a reduction for rows
/// and columns. `onBits`: elements are nothing but bits to them.
class Ptl_Forms<string ofTiles = "", string ofScalar = "", string ofColumn = "", string ofRow = ""> {
  string tiles = ofTiles;
  string scalar = ofScalar;
  string column = ofColumn;
  string row = ofRow;
  string alongRows = "";
  string alongColumns = "";
  bit onBits = 0;
}
class Ptl_BinaryForms<string word>
    : Ptl_Forms<"T" # word, "T" # word # "s", "TRowExpand" # word, "TColExpand" # word>;
class Ptl_BitForms<string word> : Ptl_Forms<"T" # word> { let onBits = 1; }
class Ptl_ReductionForms<string word> : Ptl_Forms {
  let alongRows = "TRow" # word;
  let alongColumns = "TCol" # word;
}

/// The data of a built-in, apart from its IR class. A support text is "native", "emulated" or "none", then the
/// instruction, the method or the reason. `flops` is a product of numbers, dimension variables of the signature, `in`
/// and `out` (elements of all operands, of the first result); of `einsum` also `points` (combinations of positions of all
/// letters) and `terms` (multiplications for each, and an addition where letters are summed over).
class Ptl_Record {
  string name = ?;
  list<string> aliases = [];
  string group = ?;
  string summary = "";
  string description = "";
  list<Ptl_Param> params = [];
  list<string> signatures = [];
  string example = "";
  string opClass = ?;
  string effect = "Pure";
  string core = "Vector";
  string pipe = "v";
  string flops = "out";
  string bytes = "io";
  string cpu = "native";
  string reference = "native";
  string a2 = ?;
  string a3 = a2;
  string a5 = a3;
  bit customCheck = 0;
  // Where results lie on parts: how axes of the result come from axes of operands, and of which
  // partial operands the result is partial, as in `AxisFlow` and `Linearity`.
  string axisFlow = "None";
  string linearity = "None";
  // What targets ask of it (op_lowering.h). Operations are named as in `OpId`.
  string combiner = "";     // of a reduction, search or scan: the operation that joins two results
  string identity = "";     // of a combiner: what it leaves other values as they are with, as in `Identity`
  string onNumbers = "";    // of a reduction: the one over numbers that it is made of
  string swapped = "";      // of two operands: the operation that gives the same of the exchanged ones
  Ptl_Forms forms = Ptl_Forms<>;
  int cpuCost = 4;          // of an element on this CPU, in additions
  string hostCpp = "";      // of scalars, in C++ on the host: $0, $1 are operands, $T the type of the result
}

/// A built-in with an operation of its own in the IR, whose operands and attributes follow from `params`, in their
/// order. `lengths` are the dynamic lengths of the result that no operand has. Axes are counted from 0 there, and
/// defaults of attributes are filled in.
class Ptl_Builtin<string mnemonic, list<Trait> traits = [Pure]>
    : Ptl_Op<mnemonic, traits>, Ptl_Record {
  list<string> resultNames = ["result"];
  list<Ptl_Param> irParams = !filter(p, params, !not(!empty(p.ir)));
  let arguments = !dag(ins, !foreach(p, irParams, !head(p.ir)), !foreach(p, irParams, p.irName));
  let results = !dag(outs, !foreach(r, resultNames, Ptl_Value), resultNames);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// A built-in that the builder expresses by other operations: `record` replaces the mnemonic.
class Ptl_Syntax<string recordName> : Ptl_Record {
  string opName = recordName;
}

#endif
