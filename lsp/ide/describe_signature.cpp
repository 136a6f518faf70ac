// Signatures and documentation of declarations and built-ins.

#include "lsp/ide/describe_signature.h"

#include "frontend/syntax/signature.h"
#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

namespace ptl::ide {

// ---- Declarations -------------------------------------------------------------------------------

namespace {

/// White space as one blank.
std::string onOneLine(std::string_view text) {
  std::string line;
  for (char c : text)
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  return line;
}

struct LabelMaker {
  SignatureLabel label;

  void add(std::string_view text) { label.text += text; }
  void param(std::string_view text, std::string_view name, std::string doc) {
    if (!label.params.empty())
      add(", ");
    auto begin = static_cast<uint32_t>(label.text.size());
    add(text);
    label.params.push_back({std::string(name), begin, static_cast<uint32_t>(label.text.size()),
                            std::move(doc), false});
  }
};

} // namespace

SignatureLabel signatureOf(const Tree &tree, NodeId declaration) {
  LabelMaker maker;
  maker.add(tree.text(tree.child(declaration, 0)));
  maker.add("(");
  auto addParam = [&](NodeId node, std::string doc = "") {
    maker.param(onOneLine(tree.text(node)), tree.text(tree.child(node, 0)), std::move(doc));
  };
  if (tree.is(declaration, NodeKind::StructDecl)) {
    for (NodeId field : StructDeclView(tree, declaration).fields())
      if (tree.is(field, NodeKind::Field))
        addParam(field);
    maker.add(")");
    return std::move(maker.label);
  }
  CallableView view(tree, declaration);
  if (tree.is(view.params(), NodeKind::ParamList))
    for (NodeId param : tree.children(view.params()))
      if (tree.is(param, NodeKind::Param))
        addParam(param);
  if (view.tune() != kNoNode)
    for (NodeId param : tree.children(view.tune()))
      if (tree.is(param, NodeKind::TuneParam))
        addParam(param, "tunable");
  maker.add(")");
  if (view.results() != kNoNode)
    maker.add(" " + onOneLine(tree.text(view.results())));
  return std::move(maker.label);
}

std::string codeBlock(std::string_view text) { return "```ptl\n" + std::string(text) + "\n```"; }

std::string declarationMarkdown(const Tree &tree, NodeId declaration, std::string_view module) {
  std::string text = codeBlock(signatureText(tree, declaration));
  if (!module.empty())
    text += "\nof `" + std::string(module) + "`";
  if (std::string doc = tree.docComment(declaration); !doc.empty())
    text += "\n\n" + doc;
  return text;
}

// ---- Built-ins ----------------------------------------------------------------------------------

static std::string_view kindText(ParamKind kind) {
  switch (kind) {
  case ParamKind::Value:
    return "value";
  case ParamKind::Axis:
    return "axis";
  case ParamKind::Axes:
    return "axes";
  case ParamKind::IntConst:
    return "constant";
  case ParamKind::BoolConst:
    return "true or false";
  case ParamKind::Dim:
    return "dimension";
  case ParamKind::Dims:
    return "dimensions";
  case ParamKind::ElemType:
    return "element type";
  case ParamKind::ArrayType:
    return "type";
  case ParamKind::Range:
    return "range";
  case ParamKind::Region:
    return "region";
  case ParamKind::Function:
    return "function";
  case ParamKind::Enum:
    return "tag";
  case ParamKind::Text:
    return "text";
  }
  return "value";
}

/// The types of operands and results as the record writes them.
struct SignatureTypes {
  std::vector<std::string> operands;
  std::string variables; ///< `T: float`
  std::string result;
};

static SignatureTypes typesOf(const Signature &signature) {
  SignatureTypes types;
  std::string_view text = signature.text;
  if (text.starts_with('[')) {
    types.variables = text.substr(1, text.find(']') - 1);
    text.remove_prefix(text.find(']') + 1);
  }
  size_t arrow = text.rfind("->");
  types.result = text.substr(arrow + 2);
  types.result.erase(0, types.result.find_first_not_of(' '));
  size_t open = text.find('('), close = text.rfind(')', arrow);
  std::string operand;
  int depth = 0;
  for (char c : text.substr(open + 1, close - open - 1)) {
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      types.operands.push_back(std::exchange(operand, {}));
    } else if (c != ' ' || !operand.empty()) {
      operand += c;
    }
  }
  if (!operand.empty())
    types.operands.push_back(operand);
  return types;
}

static SignatureLabel signatureOf(const OpRecord &op, const Signature &signature,
                                  std::string_view name) {
  SignatureTypes types = typesOf(signature);
  LabelMaker maker;
  maker.add(std::string(name) + "(");
  size_t operand = 0;
  for (const OpParam &param : op.params) {
    std::string text(param.name);
    std::string type(kindText(param.kind));
    if (param.kind == ParamKind::Value) {
      type = operand < types.operands.size() ? types.operands[operand] : std::string("value");
      ++operand;
    }
    bool marked = type.ends_with('?') || type.ends_with("...");
    text += ": " + type;
    if (!param.defaultText.empty())
      text += " = " + std::string(param.defaultText);
    else if (param.optional && !marked)
      text += "?";
    maker.param(text, param.name, std::string(param.doc));
    maker.label.params.back().mustBeNamed = param.keywordOnly;
  }
  maker.add(")");
  if (types.result != "()")
    maker.add(" -> " + types.result);
  if (!types.variables.empty())
    maker.add("   (" + types.variables + ")");
  return std::move(maker.label);
}

std::vector<SignatureLabel> signaturesOf(const OpRecord &op, std::string_view name) {
  std::vector<SignatureLabel> labels;
  for (const Signature &signature : op.signatures)
    labels.push_back(signatureOf(op, signature, name));
  return labels;
}

static std::string supportMarkdown(const OpRecord &op) {
  std::string text;
  for (size_t i = 0; i < kOpTargetCount; ++i) {
    const OpSupport &support = op.support[i];
    if (support.kind == SupportKind::Native && support.detail.empty())
      continue;
    std::string line = "`" + std::string(opTargetName(static_cast<OpTarget>(i))) + "` " +
                       std::string(supportName(support.kind));
    if (!support.detail.empty())
      line += ": " + std::string(support.detail);
    text += (text.empty() ? "" : " · ") + line;
  }
  return text;
}

std::string opMarkdown(const OpRecord &op, std::string_view name) {
  std::string text, signatures;
  for (const SignatureLabel &label : signaturesOf(op, name))
    signatures += (signatures.empty() ? "" : "\n") + label.text;
  if (!op.isOperator)
    text += codeBlock(signatures) + "\n";
  text += std::string(op.summary);
  if (!op.description.empty()) {
    std::string_view description = op.description;
    while (description.starts_with('\n'))
      description.remove_prefix(1);
    while (description.ends_with('\n'))
      description.remove_suffix(1);
    text += "\n\n" + std::string(description);
  }
  std::string params;
  for (const OpParam &param : op.params)
    if (!param.doc.empty() && param.kind != ParamKind::Value) {
      params += "\n- `" + std::string(param.name) + "`: " + std::string(param.doc);
      for (std::string_view value : param.enumValues)
        params += " `." + std::string(value) + "`";
    }
  if (!params.empty())
    text += "\n" + params;
  if (std::string support = supportMarkdown(op); !support.empty())
    text += "\n\n" + support;
  return text;
}

} // namespace ptl::ide
