#include "compile/entry/manifest.h"

#include "frontend/base/elem_type.h"
#include "frontend/base/json.h"
#include "frontend/syntax/signature.h"
#include "runtime/include/ptl.h"

#include <cmath>
#include <cstdio>
#include <optional>

namespace ptl {

namespace {

std::string jsonString(std::string_view text) {
  std::string out;
  appendJsonString(out, text);
  return out;
}

std::string form(std::string_view key, const std::vector<std::string> &operands) {
  std::string out = "{" + jsonString(key) + ": [";
  for (size_t i = 0; i < operands.size(); ++i)
    out += (i ? ", " : "") + operands[i];
  return out + "]}";
}

std::string floatText(double value) {
  // JSON has no numbers for these.
  if (std::isnan(value) || std::isinf(value))
    return std::string("{\"float\": \"") +
           (std::isnan(value) ? "nan"
            : value < 0       ? "-inf"
                              : "inf") +
           "\"}";
  char text[40];
  // 17 digits read back as the same double.
  std::snprintf(text, sizeof text, "{\"float\": %.17g}", value);
  return text;
}

/// Writes dimensions and conditions as expressions of the manifest.
class Expressions {
public:
  explicit Expressions(const CheckedProgram &program) : dims_(*program.dims) {}

  std::string dim(Dim value) const;
  /// Returns nothing for an expression that the manifest cannot express; compiled code then checks
  /// it itself.
  std::optional<std::string> expr(const Expr *expr) const;

private:
  std::string atom(const DimAtom &atom) const;
  std::string term(const DimTerm &term) const;
  std::optional<std::string> op(const OpExpr &op) const;
  std::optional<std::string> dataFact(const OpExpr &op) const;
  std::optional<std::string> operands(std::string_view key, std::vector<const Expr *> exprs) const;

  const DimContext &dims_;
};

std::string Expressions::atom(const DimAtom &atom) const {
  if (atom.kind == DimAtomKind::Symbol)
    return jsonString(dims_.symbol(atom.symbol).name);
  std::vector<std::string> operands;
  for (Dim operand : atom.operands)
    operands.push_back(dim(operand));
  return form(atom.kind == DimAtomKind::FloorDiv ? "floordiv"
              : atom.kind == DimAtomKind::Min    ? "min"
                                                 : "max",
              operands);
}

std::string Expressions::term(const DimTerm &term) const {
  std::vector<std::string> factors;
  // A coefficient of 1 is left out, unless it is the whole term.
  if (term.coefficient != 1 || term.monomial->isOne())
    factors.push_back(std::to_string(term.coefficient));
  for (const DimFactor &factor : term.monomial->factors)
    // A power is written as repeated factors.
    factors.insert(factors.end(), factor.power, atom(*factor.atom));
  return factors.size() == 1 ? factors.front() : form("mul", factors);
}

std::string Expressions::dim(Dim value) const {
  std::vector<std::string> terms;
  for (const DimTerm &each : value.terms())
    terms.push_back(term(each));
  if (terms.empty())
    return "0";
  return terms.size() == 1 ? terms.front() : form("add", terms);
}

std::optional<std::string> Expressions::operands(std::string_view key,
                                                 std::vector<const Expr *> exprs) const {
  std::vector<std::string> texts;
  for (const Expr *each : exprs) {
    std::optional<std::string> text = expr(each);
    if (!text)
      return std::nullopt;
    texts.push_back(*text);
  }
  return form(key, texts);
}

/// Whether an expression speaks of elements that a caller's array has two of in a byte: those are looked at where they are
/// unpacked.
static bool readsBytes(const Expr *expr) {
  if (const auto *ref = dynamic_cast<const LocalRefExpr *>(expr))
    return ref->type->isArray() && !ref->type->elem.param && isPacked(ref->type->elem.kind);
  if (const auto *convert = dynamic_cast<const ConvertExpr *>(expr))
    return readsBytes(convert->arg);
  const auto *op = dynamic_cast<const OpExpr *>(expr);
  return op && std::any_of(op->args.begin(), op->args.end(), readsBytes);
}

/// `unique(idx)`, `sorted(off)`, `all(idx < V)`.
std::optional<std::string> Expressions::dataFact(const OpExpr &op) const {
  // The fact speaks of an array by its name, so it must be one.
  const auto *array = dynamic_cast<const LocalRefExpr *>(op.args.front());
  if (readsBytes(op.args.front()))
    return std::nullopt;
  if (op.op->id != OpId::ReduceAll)
    return array ? std::optional("{" + jsonString(op.op->name) + ": " +
                                 jsonString(array->local->name) + "}")
                 : std::nullopt;
  // The condition speaks of one array, whose elements it is checked for.
  const auto *condition = dynamic_cast<const OpExpr *>(op.args.front());
  const LocalRefExpr *subject = nullptr;
  // With two arrays the condition has no single subject.
  for (const Expr *arg : condition ? condition->args : std::vector<Expr *>{})
    if (const auto *ref = dynamic_cast<const LocalRefExpr *>(arg); ref && ref->type->isArray())
      subject = subject ? nullptr : ref;
  std::optional<std::string> holds = subject ? expr(condition) : std::nullopt;
  if (!holds)
    return std::nullopt;
  return "{\"all\": {\"array\": " + jsonString(subject->local->name) + ", \"holds\": " + *holds +
         "}}";
}

std::optional<std::string> Expressions::op(const OpExpr &op) const {
  struct Spelling {
    OpId id;
    const char *key;
  };
  static constexpr Spelling spellings[] = {
      {OpId::Add, "add"}, {OpId::Sub, "sub"},      {OpId::Mul, "mul"}, {OpId::Min, "min"},
      {OpId::Max, "max"}, {OpId::Cdiv, "ceildiv"}, {OpId::Eq, "eq"},   {OpId::Ne, "ne"},
      {OpId::Lt, "lt"},   {OpId::Le, "le"},        {OpId::Gt, "gt"},   {OpId::Ge, "ge"},
      {OpId::And, "and"}, {OpId::Or, "or"},        {OpId::Not, "not"}, {OpId::Neg, "neg"}};
  std::vector<const Expr *> args(op.args.begin(), op.args.end());
  switch (op.op->id) {
  case OpId::Unique:
  case OpId::Sorted:
  case OpId::ReduceAll:
    return dataFact(op);
  case OpId::Div:
    // Divisions of `int` round down; those of other types round to zero.
    return operands(op.type->isInt() ? "floordiv" : "truncdiv", args);
  case OpId::Rem:
    return operands(op.type->isInt() ? "mod" : "rem", args);
  default:
    break;
  }
  for (const Spelling &spelling : spellings)
    if (spelling.id == op.op->id) {
      std::optional<std::string> text = operands(spelling.key, args);
      bool unary = op.op->id == OpId::Not || op.op->id == OpId::Neg;
      if (text && unary)
        // A single operand is no list.
        return "{" + jsonString(spelling.key) + ": " + *expr(args.front()) + "}";
      return text;
    }
  return std::nullopt;
}

std::optional<std::string> Expressions::expr(const Expr *expr) const {
  if (!expr)
    return std::nullopt;
  // A dimension is the most compact form of an expression over dimensions.
  if (expr->dim.isKnown())
    return dim(expr->dim);
  if (const auto *constant = dynamic_cast<const ConstExpr *>(expr)) {
    return isFloat(constant->type->elem.kind) ? floatText(constant->floatValue)
                                              : std::to_string(constant->intValue);
  }
  if (const auto *ref = dynamic_cast<const LocalRefExpr *>(expr))
    return ref->type->isArray() ? "{\"elem\": " + jsonString(ref->local->name) + "}"
                                : jsonString(ref->local->name);
  if (const auto *convert = dynamic_cast<const ConvertExpr *>(expr))
    return this->expr(convert->arg);
  if (const auto *logical = dynamic_cast<const LogicalExpr *>(expr))
    return operands(logical->isAnd ? "and" : "or", {logical->lhs, logical->rhs});
  if (const auto *op = dynamic_cast<const OpExpr *>(expr))
    return this->op(*op);
  return std::nullopt;
}

/// Writes the entries of one program.
class Writer {
public:
  Writer(const CheckedProgram &program, const SourceManager &sources)
      : sources_(sources), expressions_(program) {}

  void entry(JsonWriter &json, const ManifestEntry &entry) const;

private:
  void names(JsonWriter &json, const CallableDecl &decl) const;
  enum class Role { Input, Inout, Output };
  void value(JsonWriter &json, const std::string &name, const Type &type, Role role,
             const Expr *fallback = nullptr) const;
  void results(JsonWriter &json, const CallableDecl &decl) const;
  void wheres(JsonWriter &json, const CallableDecl &decl) const;
  void variant(JsonWriter &json, const CallableDecl &decl, const ManifestVariant &variant) const;

  const SourceManager &sources_;
  Expressions expressions_;
};

std::string elemText(const Elem &elem) {
  return elem.param ? elem.param->name : std::string(elemName(elem.kind));
}

void Writer::names(JsonWriter &json, const CallableDecl &decl) const {
  if (!decl.typeParams.empty()) {
    json.key("types").beginArray();
    for (const TypeParam *param : decl.typeParams)
      json.string(param->name);
    json.endArray();
  }
  json.key("dims").beginArray();
  for (const DimParam &dim : decl.dims) {
    json.beginObject().field("name", dim.name);
    if (dim.isStatic)
      json.key("static").boolean(true);
    json.endObject();
  }
  json.endArray();
}

void Writer::value(JsonWriter &json, const std::string &name, const Type &type, Role role,
                   const Expr *fallback) const {
  // Two elements of four bits have a byte along the last axis.
  bool isOfBytes = type.isArray() && !type.elem.param && isPacked(type.elem.kind);
  json.beginObject().field("name", name);
  json.field("elem", isOfBytes ? "u8" : elemText(type.elem));
  if (isOfBytes)
    json.field("packed", elemText(type.elem));
  // Every result is written to memory: a scalar one is an array without axes.
  if (type.isArray() || role == Role::Output) {
    json.key("shape").beginArray();
    if (type.prefix)
      json.string("..");
    for (const Extent &extent : type.extents) {
      bool isPackedAxis = isOfBytes && &extent == &type.extents.back();
      std::string length = expressions_.dim(extent.length);
      json.raw(isPackedAxis ? form("exactdiv", {length, "2"}) : length);
    }
    json.endArray();
  }
  if (!type.strides.empty()) {
    json.key("strides").beginArray();
    for (Dim stride : type.strides)
      json.raw(expressions_.dim(stride));
    json.endArray();
  }
  if (role == Role::Inout)
    json.key("inout").boolean(true);
  // Callers without the source can only fill in a number. What depends on other arguments is for
  // callers to give.
  if (const auto *constant = dynamic_cast<const ConstExpr *>(fallback))
    json.key("default").raw(*expressions_.expr(constant));
  json.endObject();
}

void Writer::results(JsonWriter &json, const CallableDecl &decl) const {
  json.key("outputs").beginArray();
  if (decl.kind != DeclKind::Fn) {
    for (const Local *output : decl.outputs)
      value(json, output->name, *output->type, Role::Output);
  } else if (decl.returnType->kind == TypeKind::Tuple) {
    // Results of a `fn` have no names.
    for (size_t i = 0; i < decl.returnType->elements.size(); ++i)
      value(json, "result" + std::to_string(i), *decl.returnType->elements[i], Role::Output);
  } else {
    value(json, "result", *decl.returnType, Role::Output);
  }
  json.endArray();
}

void Writer::wheres(JsonWriter &json, const CallableDecl &decl) const {
  json.key("wheres").beginArray();
  for (const WhereClause &where : decl.wheres) {
    std::optional<std::string> text =
        // Requirements on tunables alone were checked when compiling.
        where.onTunables ? std::nullopt : expressions_.expr(where.condition);
    // What the manifest cannot express is checked by the code itself.
    if (!text)
      continue;
    json.beginObject().field("text", where.text).key("expr").raw(*text);
    json.field("line", sources_.file(where.span.file).lineColumn(where.span.begin).line);
    json.endObject();
  }
  json.endArray();
}

void Writer::variant(JsonWriter &json, const CallableDecl &decl,
                     const ManifestVariant &variant) const {
  json.beginObject().field("symbol", variant.symbol);
  if (!variant.statics.empty())
    json.fields("static", variant.statics);
  if (!variant.elems.empty()) {
    json.key("elems").beginObject();
    for (size_t i = 0; i < variant.elems.size(); ++i)
      json.field(decl.typeParams[i]->name, elemName(variant.elems[i]));
    json.endObject();
  }
  // The number of leading axes is fixed for each variant.
  if (decl.hasPrefix)
    json.field("leading", variant.leading);
  json.endObject();
}

void Writer::entry(JsonWriter &json, const ManifestEntry &entry) const {
  const CallableDecl &decl = *entry.decl;
  const SourceFile &file = sources_.file(decl.span.file);
  const char *kind = decl.kind == DeclKind::Fn        ? "fn"
                     : decl.kind == DeclKind::Program ? "program"
                                                      : "kernel";
  json.beginObject().field("name", decl.name).field("kind", kind);
  json.field("signature", signatureLine(*decl.module->tree, decl.syntax)).field("doc", decl.doc);
  json.field("file", file.path()).field("line", file.lineColumn(decl.nameSpan.begin).line);
  names(json, decl);
  json.key("params").beginArray();
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Local &param = *decl.params[i];
    value(json, param.name, *param.type, param.isInout ? Role::Inout : Role::Input,
          decl.paramDefaults[i]);
  }
  json.endArray();
  results(json, decl);
  wheres(json, decl);
  json.key("variants").beginArray();
  for (const ManifestVariant &each : entry.variants)
    variant(json, decl, each);
  json.endArray().endObject();
}

std::string valueProblem(const std::string &name, const Type &type) {
  if (!type.isArray() && !type.isScalar())
    return "`" + name + "` is neither an array nor a scalar";
  if (type.elem.acc)
    return "the element type of `" + name + "` is `acc(" + type.elem.param->name +
           ")`, which no argument determines";
  return "";
}

} // namespace

std::string entryProblem(const CallableDecl &decl) {
  if (decl.kind == DeclKind::ExternKernel)
    return "it has no body";
  std::string problem;
  auto add = [&](const std::string &name, const Type &type) {
    if (problem.empty())
      problem = valueProblem(name, type);
  };
  for (const Local *param : decl.params)
    add(param->name, *param->type);
  for (const Local *output : decl.outputs)
    add(output->name, *output->type);
  if (decl.kind == DeclKind::Fn && decl.returnType->kind != TypeKind::Tuple)
    add("the result", *decl.returnType);
  else if (decl.kind == DeclKind::Fn)
    for (const Type *element : decl.returnType->elements)
      add("the result", *element);
  return problem;
}

/// Whether a condition speaks of elements of arrays, wherever in it.
static bool readsElements(const Expr *expr) {
  if (const auto *logical = dynamic_cast<const LogicalExpr *>(expr))
    return readsElements(logical->lhs) || readsElements(logical->rhs);
  if (const auto *convert = dynamic_cast<const ConvertExpr *>(expr))
    return readsElements(convert->arg);
  const auto *op = dynamic_cast<const OpExpr *>(expr);
  if (!op)
    return false;
  return op->op->id == OpId::ReduceAll || op->op->id == OpId::Unique ||
         op->op->id == OpId::Sorted || std::any_of(op->args.begin(), op->args.end(), readsElements);
}

std::vector<const WhereClause *> elementsCheckedByCaller(const CheckedProgram &program,
                                                         const CallableDecl &decl) {
  std::vector<const WhereClause *> result;
  // An entry without a manifest has no caller that checks.
  if (!entryProblem(decl).empty())
    return result;
  Expressions expressions(program);
  for (const WhereClause &where : decl.wheres)
    if (!where.onTunables && readsElements(where.condition) && expressions.expr(where.condition))
      result.push_back(&where);
  return result;
}

std::string emitManifest(const CheckedProgram &program, const SourceManager &sources,
                         const std::vector<ManifestEntry> &entries, bool unchecked) {
  JsonWriter json;
  json.beginObject().field("ptl_abi", PTL_ABI_VERSION);
  json.field("source", sources.file(program.modules.front()->file).path()).field("target", "cpu");
  json.key("unchecked").boolean(unchecked).key("entries").beginArray();
  Writer writer(program, sources);
  for (const ManifestEntry &entry : entries)
    writer.entry(json, entry);
  json.endArray().endObject();
  return json.take();
}

} // namespace ptl
