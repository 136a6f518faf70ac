#include "runtime/emit_header.h"

#include <cctype>

namespace ptl::rt {
namespace {

/// The C type that holds an element, and the member of PtlScalar that does.
struct CType {
  PtlElem elem;
  const char *type;
  const char *member;
};

constexpr CType cTypes[] = {
    {PTL_BOOL, "uint8_t", "u8"},  {PTL_I8, "int8_t", "i8"},      {PTL_I16, "int16_t", "i16"},
    {PTL_I32, "int32_t", "i32"},  {PTL_I64, "int64_t", "i64"},   {PTL_INT, "int64_t", "i64"},
    {PTL_U8, "uint8_t", "u8"},    {PTL_U16, "uint16_t", "u16"},  {PTL_U32, "uint32_t", "u32"},
    {PTL_U64, "uint64_t", "u64"}, {PTL_F8E4M3, "uint8_t", "u8"}, {PTL_F8E5M2, "uint8_t", "u8"},
    {PTL_F16, "uint16_t", "u16"}, {PTL_BF16, "uint16_t", "u16"}, {PTL_F32, "float", "f32"},
    {PTL_F64, "double", "f64"},   {PTL_F8E8M0, "uint8_t", "u8"},
};

const CType *cType(std::optional<PtlElem> elem) {
  for (const CType &row : cTypes)
    if (elem && row.elem == *elem)
      return &row;
  return nullptr;
}

std::string identifier(const std::string &name) {
  static constexpr std::string_view keywords[] = {
      "auto",     "break",   "case",    "char",      "const",    "continue", "default",  "do",
      "double",   "else",    "enum",    "extern",    "float",    "for",      "goto",     "if",
      "inline",   "int",     "long",    "register",  "restrict", "return",   "short",    "signed",
      "sizeof",   "static",  "struct",  "switch",    "typedef",  "union",    "unsigned", "void",
      "volatile", "while",   "library", "new",       "class",    "template", "this",     "delete",
      "operator", "private", "public",  "namespace", "typename", "bool",     "true",     "false"};
  std::string out;
  for (char c : name)
    out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  for (std::string_view keyword : keywords)
    if (out == keyword)
      return out + "_";
  return out;
}

/// An expression over dimensions as C; "" if it holds what C cannot say in one line.
std::string cExpr(const Entry &entry, const Expr &expr) {
  if (expr.op == Expr::Op::Const)
    return std::to_string(expr.constant);
  if (expr.op == Expr::Op::Dim)
    return identifier(entry.dims[expr.index].name);
  const char *sign = expr.op == Expr::Op::Add        ? " + "
                     : expr.op == Expr::Op::Sub      ? " - "
                     : expr.op == Expr::Op::Mul      ? " * "
                     : expr.op == Expr::Op::FloorDiv ? " / " // extents are not negative
                     : expr.op == Expr::Op::ExactDiv ? " / "
                     : expr.op == Expr::Op::Mod      ? " % "
                                                     : nullptr;
  std::string text;
  for (const Expr &arg : expr.args) {
    std::string part = cExpr(entry, arg);
    if (!sign || part.empty())
      return "";
    text += (text.empty() ? "" : sign) + part;
  }
  return text.empty() ? "" : "(" + text + ")";
}

/// Whether callers pass plain pointers and dimensions: every element type, rank and extent is then
/// known from those.
bool isPlain(const Entry &entry) {
  for (const Param &param : entry.params) {
    bool dense = param.strides == PTL_STRIDES_DENSE;
    if (!cType(param.elem) || param.hasLeading || (param.isArray() && !dense))
      return false;
    for (const Expr &axis : param.shape)
      if (cExpr(entry, axis).empty())
        return false;
  }
  return true;
}

class EntryEmitter {
public:
  EntryEmitter(const Entry &entry, std::string &out)
      : entry_(entry), out_(out), plain_(isPlain(entry)) {}

  void emit() {
    out_ += "/* " + comment() + " */\n";
    out_ += "static inline int32_t " + identifier(entry_.name) + "(" + parameters() + ") {\n";
    if (plain_)
      views();
    arguments();
    out_ += "  return ptl_call(ptl_find(library, \"" + entry_.name + "\"), " + arrays_ + ", " +
            scalars_ + ", " + dims_ + ");\n}\n\n";
  }

private:
  std::string comment() const {
    std::string text = entry_.signature.empty() ? entry_.name : entry_.signature;
    for (size_t at; (at = text.find("*/")) != std::string::npos;)
      text.replace(at, 2, "* /");
    return text;
  }

  std::string parameters() const {
    std::string text = "const PtlLibrary *library";
    // Arrays given as descriptors carry their dimensions, so only what they do not fix is asked
    // for.
    for (const Dim &dim : entry_.dims)
      if (plain_ || isFree(dim))
        text += ", int64_t " + identifier(dim.name);
    for (const Param &param : entry_.params) {
      const CType *type = cType(param.elem);
      if (param.isArray() && plain_)
        text += std::string(param.isWritten() ? ", " : ", const ") + type->type + " *";
      else if (param.isArray())
        text += ", const PtlArray *";
      else
        text += std::string(", ") + (type ? type->type : "PtlScalar") + " ";
      text += identifier(param.name);
    }
    return text;
  }

  bool isFree(const Dim &dim) const {
    bool occurs = false;
    for (const Param &param : entry_.params) {
      if (param.kind == PTL_PARAM_OUTPUT)
        continue;
      for (const std::vector<Expr> *list : {&param.shape, &param.strideExprs})
        for (const Expr &expr : *list)
          forEachDim(expr, [&](int index) { occurs |= &entry_.dims[index] == &dim; });
    }
    return !occurs;
  }

  void views() {
    for (const Param &param : entry_.params) {
      if (!param.isArray())
        continue;
      std::string name = identifier(param.name);
      std::string extents;
      for (const Expr &axis : param.shape)
        extents += (extents.empty() ? "" : ", ") + cExpr(entry_, axis);
      std::string shape = "NULL";
      if (!param.shape.empty()) {
        out_ += "  const int64_t ptl_shape_" + name + "[] = {" + extents + "};\n";
        shape = "ptl_shape_" + name;
      }
      out_ += "  PtlView ptl_view_" + name + ";\n";
      descriptors_ += (descriptors_.empty() ? "" : ", ") + ("ptl_view_dense(&ptl_view_" + name) +
                      ", (PtlElem)" + std::to_string(*param.elem) + ", (void *)" + name + ", " +
                      std::to_string(param.shape.size()) + ", " + shape + ")";
    }
  }

  void arguments() {
    std::string scalars, dims;
    int arrayCount = 0, scalarCount = 0, dimCount = 0;
    for (const Param &param : entry_.params) {
      std::string name = identifier(param.name);
      arrayCount += param.isArray();
      if (param.isArray() && !plain_)
        descriptors_ += (descriptors_.empty() ? "" : ", ") + name;
      if (param.isArray())
        continue;
      const CType *type = cType(param.elem);
      std::string cell = "ptl_scalars[" + std::to_string(scalarCount++) + "]";
      scalars += "  " + cell + (type ? std::string(".") + type->member : "") + " = " + name + ";\n";
    }
    for (const Dim &dim : entry_.dims)
      if (plain_ || isFree(dim))
        dims += (dimCount++ ? ", " : "") + ("{\"" + dim.name + "\", ") + identifier(dim.name) + "}";
    // C has no arrays of length 0, so nothing is declared where nothing is passed.
    arrays_ = scalars_ = dims_ = "NULL, 0";
    if (arrayCount) {
      out_ += "  const PtlArray *const ptl_arrays[] = {" + descriptors_ + "};\n";
      arrays_ = "ptl_arrays, " + std::to_string(arrayCount);
    }
    if (scalarCount) {
      out_ += "  PtlScalar ptl_scalars[" + std::to_string(scalarCount) + "];\n" + scalars;
      scalars_ = "ptl_scalars, " + std::to_string(scalarCount);
    }
    if (dimCount) {
      out_ += "  const PtlDim ptl_dims[] = {" + dims + "};\n";
      dims_ = "ptl_dims, " + std::to_string(dimCount);
    }
  }

  const Entry &entry_;
  std::string &out_;
  bool plain_;
  std::string descriptors_, arrays_, scalars_, dims_;
};

} // namespace

std::string emitHeader(const Manifest &manifest, const std::string &guard) {
  std::string name = identifier(guard);
  for (char &c : name)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = "/* Generated by ptlc from " + manifest.source + ". */\n#ifndef PTL_" + name +
                    "\n#define PTL_" + name + "\n\n#include \"ptl.h\"\n\n";
  for (const Entry &entry : manifest.entries)
    EntryEmitter(entry, out).emit();
  return out + "#endif\n";
}

} // namespace ptl::rt
