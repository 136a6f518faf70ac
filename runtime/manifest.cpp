#include "runtime/manifest.h"
#include "runtime/expr_parse.h"

#include "common/json_fields.h"

#include <algorithm>

namespace ptl::rt {
namespace {

using Json = nlohmann::json;

template <typename T> int indexOfName(const std::vector<T> &rows, const std::string &name) {
  auto found =
      std::find_if(rows.begin(), rows.end(), [&](const T &row) { return row.name == name; });
  return found == rows.end() ? -1 : static_cast<int>(found - rows.begin());
}

int indexAmong(const std::vector<const Param *> &params, const std::string &name) {
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i]->name == name)
      return static_cast<int>(i);
  return -1;
}

std::string axisText(const Json &json, bool inside = false);

/// `text` between the operands; a sum inside another operator stands in brackets.
std::string joinAxis(const Json &operands, std::string_view sign, bool inside) {
  std::string text;
  for (const Json &operand : operands) {
    std::string part = axisText(operand, true);
    bool negative = sign == " + " && !text.empty() && part[0] == '-';
    text += text.empty() ? part : negative ? " - " + part.substr(1) : std::string(sign) + part;
  }
  return inside && operands.size() > 1 && sign != "*" ? "(" + text + ")" : text;
}

/// The text of an axis in messages.
std::string axisText(const Json &json, bool inside) {
  if (json.is_string())
    return json.get<std::string>();
  if (json.is_number_integer())
    return std::to_string(json.get<int64_t>());
  if (!json.is_object() || json.size() != 1)
    return "?";
  const std::string &op = json.begin().key();
  const Json &value = json.begin().value();
  if (op == "sym" || op == "const")
    return axisText(value);
  static constexpr std::pair<std::string_view, std::string_view> infix[] = {
      {"add", " + "},    {"sub", " - "},    {"mul", "*"},
      {"floordiv", "/"}, {"exactdiv", "/"}, {"mod", " % "}};
  for (auto [name, sign] : infix)
    if (op == name && value.is_array() && !value.empty())
      return joinAxis(value, sign, inside);
  std::string text = op == "ceildiv" ? "cdiv(" : op + "(";
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      text += (i ? ", " : "") + axisText(value[i]);
  return text + ")";
}

class EntryReader {
public:
  explicit EntryReader(std::string &problem) : problem_(problem) {}

  bool read(const Json &json, Entry &entry) {
    entry_ = &entry;
    if (!json.is_object())
      return fail("an entry is not an object");
    entry.name = textField(json, "name");
    if (entry.name.empty())
      return fail("an entry has no name");
    entry.kind = textField(json, "kind");
    entry.signature = textField(json, "signature");
    entry.doc = textField(json, "doc");
    entry.file = textField(json, "file");
    entry.line = static_cast<int>(numberField(json, "line"));
    for (const Json &type : listField(json, "types"))
      entry.types.push_back(type.is_string() ? type.get<std::string>() : "");
    return readDims(json) && readParams(json) && readShapes(json) && readWheres(json) &&
           readVariants(json);
  }

private:
  bool fail(const std::string &problem) {
    problem_ = entry_->name.empty() ? problem : "entry `" + entry_->name + "`: " + problem;
    return false;
  }

  bool readDims(const Json &json) {
    for (const Json &dim : listField(json, "dims")) {
      if (dim.is_string())
        entry_->dims.push_back({dim.get<std::string>(), false});
      else if (dim.is_object() && !textField(dim, "name").empty())
        entry_->dims.push_back({textField(dim, "name"), truthField(dim, "static")});
      else
        return fail("a dimension has no name");
    }
    return true;
  }

  bool readParam(const Json &json, bool output) {
    Param param;
    if (!json.is_object() || textField(json, "name").empty())
      return fail("a parameter has no name");
    param.name = textField(json, "name");
    param.elemName = textField(json, "elem");
    param.elem = elemFromName(param.elemName);
    auto type = std::find(entry_->types.begin(), entry_->types.end(), param.elemName);
    if (!param.elem && type == entry_->types.end())
      return fail("`" + param.name + "` has the unknown element type `" + param.elemName + "`");
    if (!param.elem)
      param.typeParam = static_cast<int>(type - entry_->types.begin());
    if (json.contains("packed") && !readPacked(json, param))
      return false;
    if (output)
      param.kind = PTL_PARAM_OUTPUT;
    else if (!json.contains("shape"))
      param.kind = PTL_PARAM_SCALAR;
    else if (truthField(json, "inout"))
      param.kind = PTL_PARAM_INOUT;
    if (output && !json.contains("shape"))
      return fail("the output `" + param.name + "` has no shape");
    if (!readDefault(json, param))
      return false;
    entry_->params.push_back(std::move(param));
    return true;
  }

  bool readPacked(const Json &json, Param &param) {
    param.packed = elemFromName(textField(json, "packed"));
    bool isOfBytes = param.elem == PTL_U8 && param.packed && elemInfo(*param.packed)->bits == 4;
    return isOfBytes || fail("`" + param.name + "` packs no elements of four bits into `u8`");
  }

  /// A number, or `{"float": …}` for one with a fraction.
  bool readDefault(const Json &json, Param &param) {
    auto found = json.find("default");
    if (found == json.end())
      return true;
    const Json &number =
        found->is_object() && found->contains("float") ? (*found)["float"] : *found;
    if (param.kind != PTL_PARAM_SCALAR || !(number.is_number() || number.is_string()))
      return fail("the default of `" + param.name + "` is not a number");
    param.defaultText = number.is_string() ? number.get<std::string>() : number.dump();
    return true;
  }

  bool readParams(const Json &json) {
    for (const Json &param : listField(json, "params"))
      if (!readParam(param, false))
        return false;
    for (const Json &output : listField(json, "outputs"))
      if (!readParam(output, true))
        return false;
    entry_->outputCount = static_cast<int>(listField(json, "outputs").size());
    std::vector<const Param *> arrays = entry_->arrays(), scalars = entry_->scalars();
    names_.dim = [this](const std::string &name) { return indexOfName(entry_->dims, name); };
    names_.scalar = [scalars](const std::string &name) { return indexAmong(scalars, name); };
    // Facts are checked before the outputs exist.
    arrays.resize(arrays.size() - entry_->outputCount);
    names_.array = [arrays](const std::string &name) { return indexAmong(arrays, name); };
    return true;
  }

  bool readExpr(const Json &json, Expr &expr, const std::string &what) {
    std::string problem;
    std::optional<Expr> parsed = parseExpr(json, names_, problem);
    if (!parsed)
      return fail(what + ": " + problem);
    expr = std::move(*parsed);
    return true;
  }

  bool readShape(const Json &json, Param &param) {
    param.shapeText = "[";
    for (size_t axis = 0; axis < json.size(); ++axis) {
      std::string text = axisText(json[axis]);
      param.shapeText += (axis ? ", " : "") + text;
      if (axis == 0 && text == "..") {
        param.hasLeading = true;
        continue;
      }
      param.axisTexts.push_back(text);
      if (!readExpr(json[axis], param.shape.emplace_back(), "the shape of `" + param.name + "`"))
        return false;
    }
    param.shapeText += "]";
    if (param.shape.size() > PTL_MAX_RANK)
      return fail("`" + param.name + "` has more axes than the runtime supports");
    return true;
  }

  bool readStrides(const Json &json, Param &param) {
    if (json == "any") {
      param.strides = PTL_STRIDES_ANY;
      return true;
    }
    if (!json.is_array() || json.size() != param.shape.size() || param.hasLeading)
      return fail("the strides of `" + param.name + "` are not one per axis");
    param.strides = PTL_STRIDES_DECLARED;
    for (const Json &stride : json)
      if (!readExpr(stride, param.strideExprs.emplace_back(),
                    "the strides of `" + param.name + "`"))
        return false;
    return true;
  }

  bool readShapes(const Json &json) {
    size_t index = 0;
    for (const char *key : {"params", "outputs"}) {
      for (const Json &source : listField(json, key)) {
        Param &param = entry_->params[index++];
        if (!param.isArray())
          continue;
        if (!source["shape"].is_array())
          return fail("the shape of `" + param.name + "` is not a list");
        if (!readShape(source["shape"], param))
          return false;
        if (source.contains("strides") && !readStrides(source["strides"], param))
          return false;
      }
    }
    return true;
  }

  bool readWheres(const Json &json) {
    for (const Json &source : listField(json, "wheres")) {
      if (!source.is_object() || !source.contains("expr"))
        return fail("a `where` has no expression");
      Where where;
      where.text = textField(source, "text");
      where.line = static_cast<int>(numberField(source, "line"));
      if (!readExpr(source["expr"], where.expr, "`where " + where.text + "`"))
        return false;
      entry_->wheres.push_back(std::move(where));
    }
    return true;
  }

  bool readVariants(const Json &json) {
    for (const Json &source : listField(json, "variants")) {
      Variant variant;
      variant.symbol = source.is_object() ? textField(source, "symbol") : "";
      if (variant.symbol.empty())
        return fail("a variant has no symbol");
      variant.statics.resize(entry_->dims.size());
      variant.elems.resize(entry_->types.size());
      if (source.contains("leading"))
        variant.leading = numberField(source, "leading");
      for (auto &[name, value] : objectField(source, "static").items()) {
        int dim = indexOfName(entry_->dims, name);
        if (dim < 0 || !value.is_number_integer())
          return fail("a variant fixes `" + name + "`, which is not a dimension");
        variant.statics[dim] = value.get<int64_t>();
      }
      for (auto &[name, value] : objectField(source, "elems").items()) {
        auto type = std::find(entry_->types.begin(), entry_->types.end(), name);
        auto elem = value.is_string() ? elemFromName(value.get<std::string>()) : std::nullopt;
        if (type == entry_->types.end() || !elem)
          return fail("a variant fixes `" + name + "`, which is not an element type parameter");
        variant.elems[type - entry_->types.begin()] = elem;
      }
      entry_->variants.push_back(std::move(variant));
    }
    return true;
  }

  std::string &problem_;
  Entry *entry_ = nullptr;
  ExprNames names_;
};

} // namespace

bool Entry::hasLeading() const {
  return std::any_of(params.begin(), params.end(), [](const Param &p) { return p.hasLeading; });
}

std::vector<const Param *> Entry::arrays() const {
  std::vector<const Param *> found;
  for (const Param &param : params)
    if (param.isArray())
      found.push_back(&param);
  return found;
}

std::vector<const Param *> Entry::scalars() const {
  std::vector<const Param *> found;
  for (const Param &param : params)
    if (!param.isArray())
      found.push_back(&param);
  return found;
}

std::string Variant::describe(const Entry &entry) const {
  std::string text;
  auto append = [&](const std::string &name, const std::string &value) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  };
  for (size_t i = 0; i < statics.size(); ++i)
    if (statics[i])
      append(entry.dims[i].name, std::to_string(*statics[i]));
  for (size_t i = 0; i < elems.size(); ++i)
    if (elems[i])
      append(entry.types[i], elemName(*elems[i]));
  if (leading)
    append("..", std::to_string(*leading));
  return text;
}

std::optional<Manifest> parseManifest(std::string_view text, std::string &problem) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    problem = "it is not a JSON object";
    return std::nullopt;
  }
  if (numberField(json, "ptl_abi") != PTL_ABI_VERSION) {
    problem = "it was compiled for ABI " + std::to_string(numberField(json, "ptl_abi")) +
              ", this runtime has ABI " + std::to_string(PTL_ABI_VERSION);
    return std::nullopt;
  }
  Manifest manifest;
  manifest.source = textField(json, "source");
  for (const Json &entry : listField(json, "entries"))
    if (!EntryReader(problem).read(entry, manifest.entries.emplace_back()))
      return std::nullopt;
  return manifest;
}

} // namespace ptl::rt
