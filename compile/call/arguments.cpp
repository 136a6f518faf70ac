#include "compile/call/arguments.h"

#include "codegen/reference/scalar_ops.h"
#include "common/read_number.h"
#include "common/words.h"
#include "compile/call/packed_arrays.h"
#include "compile/entry/binding.h"
#include "frontend/base/explain.h"
#include "runtime/npy/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace ptl {

namespace {

/// The element type of the runtime as one of the language. Both tables have one row per type, named
/// alike.
std::optional<ElemKind> kindOf(int32_t elem) { return elemKindByName(rt::elemName(elem)); }

template <typename Real = double> std::optional<Real> readNumber(std::string_view text) {
  if (text == "true" || text == "false")
    return text == "true" ? 1 : 0;
  bool negative = text.substr(0, 1) == "-";
  if (text.substr(negative) == "inf")
    return negative ? -HUGE_VAL : HUGE_VAL;
  Real value = 0;
  auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = status == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole ? std::optional<Real>(value) : std::nullopt;
}

/// `random(seed: 1, low: -1, high: 1)`, `zeros`, `ones`.
struct Recipe {
  std::string name;
  std::map<std::string, double> options;

  double option(const std::string &key, double otherwise) const {
    auto it = options.find(key);
    return it == options.end() ? otherwise : it->second;
  }
};

std::optional<Recipe> readRecipe(std::string_view text) {
  size_t open = text.find('(');
  Recipe recipe;
  recipe.name = text.substr(0, open);
  if (recipe.name != "random" && recipe.name != "zeros" && recipe.name != "ones")
    return std::nullopt;
  if (open == text.npos)
    return recipe;
  if (text.back() != ')')
    return std::nullopt;
  // The closing parenthesis was checked, so both ends are dropped.
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    // Options are separated by commas; the last one has none behind it.
    size_t comma = std::min(rest.find(','), rest.size());
    std::string_view option = rest.substr(0, comma);
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    size_t colon = option.find(':');
    std::optional<double> value =
        colon == option.npos ? std::nullopt : readNumber(trimmed(option.substr(colon + 1)));
    std::string key(trimmed(option.substr(0, colon)));
    bool isKnown = key == "seed" || key == "low" || key == "high";
    // An option that is given twice would have two values.
    if (!value || !isKnown || !recipe.options.emplace(key, *value).second)
      return std::nullopt;
  }
  return recipe;
}

/// Resolves the words of one run.
class Resolver {
public:
  Resolver(const rt::Entry &entry, uint64_t seed, bool convert, RunNeeds needs)
      : entry_(entry), seed_(seed), convert_(convert), needs_(needs), dims_(entry.dims.size()),
        fromArray_(entry.dims.size()), elems_(entry.types.size()) {}

  void read(const std::vector<std::string> &words);
  void checkTypes(const CallableDecl &decl);
  void finish(RunInputs &inputs);
  std::vector<RunArgumentError> errors;

private:
  void fail(const std::string &name, std::string reason) {
    errors.push_back({name, std::move(reason)});
  }
  void readFile(const rt::Param &param, const std::string &path);
  void unify(const rt::Param &param, const rt::OwnedArray &array);
  void adaptElem(const rt::Param &param, rt::OwnedArray &array);
  std::string firstUnknownDim(const rt::Expr &extent) const;
  bool setTypeOrDim(const std::string &name, const std::string &value);
  std::optional<std::vector<int64_t>> extentsOf(const rt::Param &param);
  std::optional<rt::OwnedArray> make(const rt::Param &param, const std::string &text,
                                     uint64_t stream);
  bool assume(const rt::Param &param, RunInputs &inputs);
  std::optional<PtlScalar> scalar(const rt::Param &param, const std::string &text);
  PtlElem elemOf(const rt::Param &param) const;
  std::string knownNames() const;

  const rt::Entry &entry_;
  uint64_t seed_;
  bool convert_;
  RunNeeds needs_;
  std::map<std::string, std::string> values_; ///< words by name
  std::map<std::string, rt::OwnedArray> files_;
  std::map<std::string, std::shared_ptr<rt::ArrayFile>> later_; ///< those that are read in parts
  std::set<std::string> seen_;                                  ///< the names that words give
  std::vector<std::optional<int64_t>> dims_;
  std::vector<bool> fromArray_;               ///< of `dims_`: found in the shape of a file
  std::vector<std::optional<PtlElem>> elems_; ///< of the type parameters
  std::optional<std::vector<int64_t>> leading_;
  bool hasWrongDim_ = false; ///< a word gives a dimension what is none
};

std::string Resolver::knownNames() const {
  std::string text;
  for (const rt::Param &param : entry_.params)
    if (param.kind != PTL_PARAM_OUTPUT)
      text += (text.empty() ? "" : ", ") + param.name;
  for (const rt::Dim &dim : entry_.dims)
    text += (text.empty() ? "" : ", ") + dim.name;
  return text;
}

bool Resolver::setTypeOrDim(const std::string &name, const std::string &value) {
  for (size_t i = 0; i < entry_.dims.size(); ++i)
    if (entry_.dims[i].name == name) {
      dims_[i] = integerIn(value);
      fromArray_[i] = false;
      if (dims_[i].value_or(-1) >= 0)
        return true;
      // What needs this dimension cannot be made, and is not reported as well.
      dims_[i].reset();
      hasWrongDim_ = true;
      fail(name,
           "a dimension is a whole number from 0 to 9223372036854775807, not `" + value + "`");
      return true;
    }
  for (size_t i = 0; i < entry_.types.size(); ++i)
    if (entry_.types[i] == name) {
      elems_[i] = rt::elemFromName(value);
      if (!elems_[i])
        fail(name, "`" + value + "` is not an element type");
      return true;
    }
  return false;
}

void Resolver::read(const std::vector<std::string> &words) {
  for (const std::string &word : words) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    if (equals == word.npos) {
      fail(word, "write `name=value`; `--entry NAME` selects the entry to run");
      continue;
    }
    std::string value = word.substr(equals + 1);
    if (!seen_.insert(name).second) {
      fail(name, "it is given twice");
      continue;
    }
    // Outputs are made by the call, so they take no value.
    auto param =
        std::find_if(entry_.params.begin(), entry_.params.end(), [&](const rt::Param &each) {
          return each.name == name && each.kind != PTL_PARAM_OUTPUT;
        });
    // A word that names no parameter may be a dimension or an element type.
    if (param == entry_.params.end()) {
      if (!setTypeOrDim(name, value))
        fail(name,
             "`" + entry_.name + "` has no such parameter or dimension; it has " + knownNames());
      continue;
    }
    values_[name] = value;
    // Files are read first, because their shapes determine dimensions that other arguments need.
    if (param->isArray() && value.substr(0, 1) == "@")
      readFile(*param, value.substr(1));
  }
}

void Resolver::readFile(const rt::Param &param, const std::string &path) {
  auto file = std::make_shared<rt::ArrayFile>();
  rt::OwnedArray array;
  rt::Failure failure = file->open(path);
  // What is rounded is read here.
  bool isLater = needs_ == RunNeeds::Parts && !convert_;
  if (!failure && !isLater)
    failure = file->read(array);
  if (failure) {
    fail(param.name, failure.message);
    return;
  }
  if (isLater) {
    std::optional<rt::OwnedArray> described =
        rt::OwnedArray::reserve(file->elem(), file->extents());
    if (!described)
      return fail(param.name, "there is not enough memory for an array of this size");
    array = std::move(*described);
    later_[param.name] = std::move(file);
  }
  adaptElem(param, array);
  unify(param, array);
  files_[param.name] = std::move(array);
}

/// Gives a file's array the parameter's element type where that only needs its bits, or a rounding
/// asked for.
void Resolver::adaptElem(const rt::Param &param, rt::OwnedArray &array) {
  std::optional<PtlElem> wanted = param.elem             ? param.elem
                                  : param.typeParam >= 0 ? elems_[param.typeParam]
                                                         : std::nullopt;
  // Types of equal width may only differ in how bits are read, for instance `bf16` in a file of
  // `u16`.
  // Bytes that hold two elements may be numbers with a sign.
  bool isPacked = param.packed && array.elem() == PTL_I8;
  if (!wanted || isPacked || *wanted == array.elem() || array.reinterpretAs(*wanted))
    return;
  std::optional<ElemKind> from = kindOf(array.elem()), to = kindOf(*wanted);
  // Only floats are rounded, and only if the user asks: the result differs from the file.
  bool rounds = (array.elem() == PTL_F32 || array.elem() == PTL_F64) && to && isFloat(*to);
  if (!convert_ || !rounds) {
    fail(param.name,
         "the file holds " + describe(array) + ", the parameter is " + param.elemName +
             param.shapeText +
             (rounds ? "; `--convert` rounds it" : "; convert the array before it is saved"));
    return;
  }
  std::optional<rt::OwnedArray> rounded = rt::OwnedArray::make(*wanted, array.extents());
  if (!rounded)
    return fail(param.name, "out of memory");
  auto *in = static_cast<const char *>(array.data());
  auto *out = static_cast<char *>(rounded->data());
  for (int64_t i = 0; i < array.count(); ++i)
    storeElem(out + i * elemBytes(*to), *to,
              convertScalar(loadElem(in + i * elemBytes(*from), *from), *from, *to));
  array = std::move(*rounded);
}

/// Learns dimensions and element types from an array. Contradictions are left to the call, which
/// explains them.
void Resolver::unify(const rt::Param &param, const rt::OwnedArray &array) {
  if (param.typeParam >= 0 && !elems_[param.typeParam])
    elems_[param.typeParam] = array.elem();
  size_t rank = array.extents().size(), named = param.shape.size();
  // A file of too few axes is reported by the call.
  if (rank < named)
    return;
  if (param.hasLeading && !leading_)
    // Axes before the named ones are the leading ones.
    leading_.emplace(array.extents().begin(), array.extents().end() - named);
  for (size_t i = 0; i < named; ++i) {
    rt::ExprValues values{dims_, {}, {}, {}, nullptr};
    // The extent may be an expression, such as `2 * N`, that is solved for its one unknown
    // dimension.
    if (auto solution = rt::solve(param.shape[i], array.extents()[rank - named + i], values)) {
      dims_[solution->dim] = solution->value;
      fromArray_[solution->dim] = true;
    }
  }
}

PtlElem Resolver::elemOf(const rt::Param &param) const {
  if (param.elem)
    return *param.elem;
  return param.typeParam >= 0 ? elems_[param.typeParam].value_or(PTL_F32) : PTL_F32;
}

/// A dimension without a value in an extent.
std::string Resolver::firstUnknownDim(const rt::Expr &extent) const {
  if (extent.op == rt::Expr::Op::Dim)
    return dims_[extent.index] ? std::string() : entry_.dims[extent.index].name;
  for (const rt::Expr &part : extent.args)
    if (std::string name = firstUnknownDim(part); !name.empty())
      return name;
  return {};
}

std::optional<std::vector<int64_t>> Resolver::extentsOf(const rt::Param &param) {
  std::vector<int64_t> extents;
  if (param.hasLeading && leading_)
    extents = *leading_;
  for (size_t i = 0; i < param.shape.size(); ++i) {
    std::optional<int64_t> extent =
        rt::evaluateInt(param.shape[i], rt::ExprValues{dims_, {}, {}, {}, nullptr});
    if (!extent && param.packed && param.shape[i].op == rt::Expr::Op::ExactDiv &&
        rt::evaluateInt(param.shape[i].args[0], rt::ExprValues{dims_, {}, {}, {}, nullptr})) {
      fail(param.name, "two elements have a byte in memory, so its last axis needs an even length");
      return std::nullopt;
    }
    if (!extent) {
      std::string unknown = firstUnknownDim(param.shape[i]);
      std::string axis = "the extent of its axis `" + param.axisTexts[i] + "` ";
      // With all dimensions known, only a number beyond 64 bits is left as the reason.
      if (unknown.empty())
        fail(param.name, axis + "has no value of 64 bits with these dimensions");
      else if (!hasWrongDim_)
        fail(param.name,
             axis + "is unknown; give its dimensions values, as in " + unknown + "=1024");
      return std::nullopt;
    }
    extents.push_back(*extent);
  }
  return extents;
}

/// An array of which only the shape is known, or what may decide, or random elements, or a number that decides nothing.
bool Resolver::assume(const rt::Param &param, RunInputs &inputs) {
  if (!param.isArray()) {
    // The value of an integer may decide how often a loop runs, so it cannot be assumed. A float
    // decides nothing that times depend on.
    if (!isFloat(*kindOf(elemOf(param))))
      return false;
    inputs.scalars.push_back(*scalar(param, "1"));
    inputs.assumedScalars.resize(inputs.scalars.size(), false);
    inputs.assumedScalars.back() = true;
    return true;
  }
  std::optional<std::vector<int64_t>> extents = extentsOf(param);
  if (!extents)
    return true;
  // Elements that decide addresses or counts get plausible values.
  if (auto assumed = assumeElements(entry_, param, dims_, *extents)) {
    inputs.elements.push_back(std::move(assumed->elements));
    inputs.arrays.push_back(std::move(assumed->array));
    inputs.hasValues.push_back(true);
    return true;
  }
  if (needs_ == RunNeeds::Drawn) {
    std::string recipe = "random(seed: " + std::to_string(inputs.arrays.size() + 1) + ")";
    if (std::optional<rt::OwnedArray> array = make(param, recipe, inputs.arrays.size() + 1)) {
      inputs.elements.push_back({param.name, recipe});
      inputs.arrays.push_back(std::move(*array));
      inputs.hasValues.push_back(true);
    }
    return true;
  }
  // No values are needed, so the memory is only reserved and never touched.
  std::optional<rt::OwnedArray> array;
  if (!(array = rt::OwnedArray::reserve(elemOf(param), *extents)))
    fail(param.name, "there is not enough memory for an array of this size");
  if (array) {
    inputs.arrays.push_back(std::move(*array));
    inputs.hasValues.push_back(false);
  }
  return true;
}

/// The limits of a recipe, as given or the usual ones of the type.
static std::pair<double, double> limitsOf(const Recipe &recipe, ElemKind kind) {
  bool real = isFloat(kind);
  // The upper limit is exclusive, so 2 gives both truth values. Of four bits all numbers come.
  double low = !isPacked(kind) ? 0 : real ? -6 : -8;
  double high = isPacked(kind) ? -low : real ? 1 : kind == ElemKind::Bool ? 2 : 10;
  return {recipe.option("low", low), recipe.option("high", high)};
}

/// Why no element of the type could come from an option with this value; empty if one could. An upper limit of
/// integers may be one beyond the largest, since it is exclusive.
static std::string notAnElement(const std::string &option, double value, ElemKind kind) {
  bool isSeed = option == "seed";
  if (!isSeed && kind == ElemKind::Bool)
    return "has no effect on `bool`";
  if (!isSeed && isFloat(kind)) {
    // Elements are computed in `f32` and then rounded.
    bool isElement =
        std::isfinite(static_cast<float>(value)) && std::isfinite(roundFloat(value, kind));
    return isElement ? "" : "is not a finite number of " + std::string(elemName(kind));
  }
  bool isNatural = isSeed || !isSigned(kind);
  // An option is an `int64_t` in the end, so numbers from 2^63 on are refused for `u64`, too.
  unsigned bits = isSeed ? 63 : std::min(elemBits(kind) - (isNatural ? 0 : 1), 63U);
  // A double holds the ends of these ranges exactly.
  double end = std::ldexp(1, static_cast<int>(bits)), least = isNatural ? 0 : -end;
  bool isBeyond = option == "high" && value == end && bits < 63;
  if (value == std::trunc(value) && value >= least && (value < end || isBeyond))
    return {};
  std::string first = isNatural ? "0" : "-2^" + std::to_string(bits);
  return "is not a whole number from " + first + " to 2^" + std::to_string(bits) +
         (option == "high" && bits < 63 ? "" : " - 1");
}

/// What is wrong with the options of a recipe; empty if nothing is.
static std::string whatIsWrong(const Recipe &recipe, ElemKind kind, const std::string &text) {
  for (const auto &[option, value] : recipe.options) {
    if (recipe.name != "random")
      return "`" + option + "` has no effect in `" + text + "`";
    if (std::string reason = notAnElement(option, value, kind); !reason.empty())
      return "`" + option + "` in `" + text + "` " + reason;
  }
  auto [low, high] = limitsOf(recipe, kind);
  bool isEmpty = isFloat(kind) ? low > high : low >= high;
  if (recipe.name == "random" && isEmpty)
    return "there is no number from `low` to below `high` in `" + text +
           "`; without these options it is from " +
           std::to_string(std::lround(limitsOf({}, kind).first)) + " to below " +
           std::to_string(std::lround(limitsOf({}, kind).second));
  // The distance is computed in `f32`, too.
  if (isFloat(kind) && !std::isfinite(static_cast<float>(high) - static_cast<float>(low)))
    return "`low` and `high` in `" + text + "` are further apart than any number of f32";
  return {};
}

/// The elements of an array by their positions.
static std::function<Scalar(int64_t)> elementsOf(const Recipe &recipe, ElemKind kind,
                                                 uint64_t stream) {
  bool real = isFloat(kind);
  auto bound = [real](double value) {
    return real ? Scalar::real(value) : Scalar::integer(static_cast<int64_t>(value));
  };
  if (recipe.name != "random")
    return [value = bound(recipe.name == "ones" ? 1 : 0)](int64_t) { return value; };
  auto limits = limitsOf(recipe, kind);
  Scalar low = bound(limits.first), high = bound(limits.second);
  auto seed = static_cast<uint64_t>(recipe.option("seed", static_cast<double>(stream)));
  return [=](int64_t i) {
    return reference::randomScalar(reference::philoxBits(static_cast<uint64_t>(i), seed), kind, low,
                                   high);
  };
}

std::optional<rt::OwnedArray> Resolver::make(const rt::Param &param, const std::string &text,
                                             uint64_t stream) {
  std::optional<Recipe> recipe = readRecipe(text);
  if (!recipe) {
    fail(param.name,
         "`" + text + "` is not an array: write " +
             (text.ends_with(".npy") || text.ends_with(".npz") ? "@" + text : "@FILE.npy") +
             ", random(seed: 1, low: 0, high: 1), zeros or ones");
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> extents = extentsOf(param);
  if (!extents)
    return std::nullopt;
  PtlElem elem = elemOf(param);
  std::optional<ElemKind> packed = packedKind(param);
  ElemKind drawn = packed.value_or(*kindOf(elem));
  if (std::string wrong = whatIsWrong(*recipe, drawn, text); !wrong.empty()) {
    fail(param.name, wrong);
    return std::nullopt;
  }
  // Unless a seed is given, each argument has a stream of its own; otherwise arrays of one
  // shape would be equal.
  auto element = elementsOf(*recipe, drawn, seed_ + stream);
  std::optional<rt::OwnedArray> array =
      packed ? packedArray(*packed, *extents, element) : rt::OwnedArray::make(elem, *extents);
  if (!array) {
    fail(param.name, "there is not enough memory for an array of this size");
    return std::nullopt;
  }
  ElemKind kind = *kindOf(elem);
  auto *out = static_cast<char *>(array->data());
  for (int64_t i = 0; !packed && i < array->count(); ++i)
    storeElem(out + i * elemBytes(kind), kind, element(i));
  return array;
}

/// The bits of a whole number, as `Scalar::i`; nothing for a number that the type does not have, which would become another one.
static std::optional<int64_t> wholeIn(const std::string &text, ElemKind kind) {
  // Large numbers are read as they are written, because they do not fit a double.
  std::optional<int64_t> number = integerIn(text);
  std::optional<uint64_t> large = integerIn<uint64_t>(text);
  // A `long double` has 64 bits or more, so it holds every number that an integer type has, and the next one.
  std::optional<long double> real = readNumber<long double>(text);
  bool isWhole = !number && !large && real && *real == std::floor(*real);
  if (isWhole && *real >= -0x1p63L && *real < 0x1p63L)
    number = static_cast<int64_t>(*real);
  else if (isWhole && *real >= 0 && *real < 0x1p64L)
    large = static_cast<uint64_t>(*real);
  if (kind == ElemKind::U64 && large)
    return static_cast<int64_t>(*large);
  bool isBool = kind == ElemKind::Bool;
  int64_t low = isBool ? 0 : smallestInteger(kind);
  int64_t high = isBool ? 1 : kind == ElemKind::U64 ? INT64_MAX : largestInteger(kind);
  return number && *number >= low && *number <= high ? number : std::nullopt;
}

std::optional<PtlScalar> Resolver::scalar(const rt::Param &param, const std::string &text) {
  ElemKind kind = *kindOf(elemOf(param));
  std::optional<double> number = readNumber(text);
  if (!number && !integerIn(text) && !integerIn<uint64_t>(text)) {
    fail(param.name, "`" + text + "` is not a number");
    return std::nullopt;
  }
  PtlScalar cell{};
  if (!isFloat(kind)) {
    std::optional<int64_t> whole = wholeIn(text, kind);
    // A value that changes by conversion, such as 1.5 or one out of range, was not meant.
    if (!whole)
      fail(param.name, text + " is not a value of " + std::string(elemName(kind)));
    else
      storeElem(&cell, kind, Scalar{0, *whole});
    return whole ? std::optional(cell) : std::nullopt;
  }
  Scalar value = convertScalar(Scalar::real(*number), ElemKind::F64, kind);
  // A number that is too large for a float would become an infinity, which was not written.
  if (std::isfinite(*number) && !std::isfinite(value.f)) {
    fail(param.name, text + " is too large for " + std::string(elemName(kind)));
    return std::nullopt;
  }
  storeElem(&cell, kind, value);
  return cell;
}

void Resolver::checkTypes(const CallableDecl &decl) {
  // An element type that neither a word nor a file has given is the usual one of its parameter.
  for (size_t i = 0; i < elems_.size(); ++i)
    if (!elems_[i])
      elems_[i] = rt::elemFromName(elemName(usualElement(*decl.typeParams[i])));
    else if (std::string wrong = elementProblem(*decl.typeParams[i], rt::elemName(*elems_[i]));
             !wrong.empty())
      fail(entry_.types[i], wrong);
}

void Resolver::finish(RunInputs &inputs) {
  uint64_t stream = 0;
  for (const rt::Param &param : entry_.params) {
    if (param.kind == PTL_PARAM_OUTPUT)
      continue;
    auto given = values_.find(param.name);
    if (given == values_.end() && !param.defaultText.empty())
      given = values_.emplace(param.name, param.defaultText).first;
    // When only times are asked, missing values can be assumed.
    if (given == values_.end() && (needs_ == RunNeeds::Times || needs_ == RunNeeds::Drawn) &&
        assume(param, inputs))
      continue;
    if (given == values_.end()) {
      fail(param.name, param.isArray() ? "it has no value; give a file, `" + param.name + "=@" +
                                             param.name + ".npy`, or `" + param.name + "=random`"
                                       : "it has no value; give `" + param.name + "=NUMBER`");
      continue;
    }
    ++stream;
    if (!param.isArray()) {
      if (std::optional<PtlScalar> cell = scalar(param, given->second))
        inputs.scalars.push_back(*cell);
    } else if (auto file = files_.find(param.name); file != files_.end()) {
      inputs.files.resize(inputs.arrays.size());
      if (auto later = later_.find(param.name); later != later_.end())
        inputs.files.push_back(later->second);
      inputs.arrays.push_back(std::move(file->second));
      inputs.hasValues.push_back(true);
    } else if (given->second.substr(0, 1) != "@") {
      // A file that could not be read was reported by `readFile`.
      if (std::optional<rt::OwnedArray> array = make(param, given->second, stream))
        inputs.arrays.push_back(std::move(*array));
      inputs.hasValues.push_back(true);
    }
  }
  inputs.files.resize(inputs.arrays.size());
  for (size_t i = 0; i < entry_.dims.size(); ++i) {
    if (!dims_[i])
      continue;
    inputs.dims.emplace_back(entry_.dims[i].name, *dims_[i]);
    if (!fromArray_[i])
      inputs.givenDims.push_back(inputs.dims.back());
  }
}

} // namespace

void fillRandomly(rt::OwnedArray &array, uint64_t seed, std::optional<double> low,
                  std::optional<double> high) {
  Recipe recipe{"random", {}};
  if (low)
    recipe.options["low"] = *low;
  if (high)
    recipe.options["high"] = *high;
  ElemKind kind = *kindOf(array.elem());
  auto element = elementsOf(recipe, kind, seed);
  auto *out = static_cast<char *>(array.data());
  for (int64_t i = 0; i < array.count(); ++i)
    storeElem(out + i * elemBytes(kind), kind, element(i));
}

std::vector<RunArgumentError> resolveRunArguments(const CallableDecl &decl, const rt::Entry &entry,
                                                  const std::vector<std::string> &words,
                                                  uint64_t seed, bool convert, RunInputs &inputs,
                                                  RunNeeds needs) {
  Resolver resolver(entry, seed, convert, needs);
  resolver.read(words);
  resolver.checkTypes(decl);
  resolver.finish(inputs);
  return resolver.errors;
}

} // namespace ptl
