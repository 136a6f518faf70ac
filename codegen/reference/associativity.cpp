#include "codegen/reference/associativity.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace ptl::reference {

namespace {

constexpr int64_t kTriples = 256; ///< tried at once, one at each position
constexpr int kShrinkRounds = 4;

/// Values for one parameter, one at each position.
using Column = std::vector<double>;
/// The columns of `a`, then of `b`, then of `c`.
using Columns = std::vector<Column>;

class Trial {
public:
  Trial(const CheckedProgram &program, const SourceManager &sources, const CallableDecl &decl)
      : program_(program), sources_(sources), decl_(decl), width_(decl.params.size() / 2) {}

  std::vector<TestFailure> run(uint64_t seed, Observer *observer);

private:
  ElemKind elemOf(size_t param) const;
  Column draw(size_t param, std::mt19937_64 &generator) const;
  std::optional<std::vector<Value>> call(const std::vector<Value> &left,
                                         const std::vector<Value> &right);
  std::optional<int64_t> failing(const Columns &columns);
  bool areClose(const RefArray &x, const RefArray &y, int64_t at) const;
  void shrink(Columns &one);
  std::string text(const Columns &one, size_t from) const;
  std::string text(const std::vector<Value> &values, int64_t at) const;

  const CheckedProgram &program_;
  const SourceManager &sources_;
  const CallableDecl &decl_;
  size_t width_;
  std::vector<Value> left_, right_; ///< `f(f(a, b), c)` and `f(a, f(b, c))` of the last try
  std::optional<TestFailure> stopped_;
  Observer *observer_ = nullptr; ///< of what is drawn, not of what makes a failing triple smaller
};

} // namespace

ElemKind Trial::elemOf(size_t param) const {
  const Elem &elem = decl_.params[param]->type->elem;
  if (!elem.param)
    return elem.kind;
  // A generic parameter is tried with one usual type.
  return elem.param->constraint == ElemConstraint::Integer ? ElemKind::I32 : ElemKind::F32;
}

/// Every third value is one of those where functions change.
Column Trial::draw(size_t param, std::mt19937_64 &generator) const {
  static constexpr double notable[] = {0, 1, -1, 2, -2, 0.5, 3, -0.25};
  ElemKind elem = elemOf(param);
  Column column;
  for (int64_t i = 0; i < kTriples; ++i) {
    // 53 bits are the precision of a double; the value lies in `0..1`.
    double unit = static_cast<double>(generator() >> 11) / static_cast<double>(1ull << 53);
    // Small numbers make exact results likely and overflow unlikely.
    double value = generator() % 3 == 0 ? notable[generator() % std::size(notable)] : unit * 6 - 3;
    if (!isFloat(elem))
      // Truth values are 0 or 1, and unsigned numbers are not negative.
      value = std::round(elem == ElemKind::Bool               ? std::abs(value) / 3
                         : isInteger(elem) && !isSigned(elem) ? std::abs(value)
                                                              : value);
    column.push_back(value);
  }
  return column;
}

static Value valueOf(const Column &column, ElemKind elem) {
  RefArray array = zeroArray(elem, {static_cast<int64_t>(column.size())});
  for (size_t i = 0; i < column.size(); ++i) {
    Scalar value =
        isFloat(elem) ? Scalar::real(column[i]) : Scalar::integer(static_cast<int64_t>(column[i]));
    array.set(static_cast<int64_t>(i), roundScalar(value, elem));
  }
  return Value::array(std::move(array));
}

std::optional<std::vector<Value>> Trial::call(const std::vector<Value> &left,
                                              const std::vector<Value> &right) {
  std::vector<Value> args = left;
  args.insert(args.end(), right.begin(), right.end());
  RunOptions options;
  options.observer = observer_;
  for (const TypeParam *param : decl_.typeParams)
    options.elems[param->name] =
        param->constraint == ElemConstraint::Integer ? ElemKind::I32 : ElemKind::F32;
  RunResult result = runEntry(program_, sources_, decl_, std::move(args), options);
  // A run that fails, or that has another number of results, ends the trial.
  if (result.ok() && result.outputs.size() == width_)
    return std::move(result.outputs);
  stopped_ =
      TestFailure{result.status, std::move(result.message), result.span, std::move(result.calls)};
  return std::nullopt;
}

bool Trial::areClose(const RefArray &x, const RefArray &y, int64_t at) const {
  Scalar a = x.at(at), b = y.at(at);
  if (!x.isReal())
    return a.i == b.i;
  bool isSame = a.f == b.f || (std::isnan(a.f) && std::isnan(b.f));
  bool isWide = x.elem == ElemKind::F32 || x.elem == ElemKind::F64;
  // Float operations are only nearly associative; short floats round more.
  double tolerance = isWide ? 1e-3 : 0.1;
  return isSame || std::abs(a.f - b.f) <= tolerance * std::max({1.0, std::abs(a.f), std::abs(b.f)});
}

/// The first position at which the two ways differ.
std::optional<int64_t> Trial::failing(const Columns &columns) {
  std::vector<Value> parts[3];
  for (size_t i = 0; i < columns.size(); ++i)
    parts[i / width_].push_back(valueOf(columns[i], elemOf(i % width_)));
  // All triples are computed in one call each, since `fn`s work on arrays position by position.
  auto first = call(parts[0], parts[1]), last = call(parts[1], parts[2]);
  auto left = first ? call(*first, parts[2]) : std::nullopt;
  auto right = last ? call(parts[0], *last) : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  left_ = std::move(*left);
  right_ = std::move(*right);
  for (size_t at = 0; at < columns[0].size(); ++at)
    for (size_t i = 0; i < width_; ++i)
      if (!areClose(left_[i].asArray(), right_[i].asArray(), static_cast<int64_t>(at)))
        return static_cast<int64_t>(at);
  return std::nullopt;
}

/// Values as plain as the two ways still differ with.
void Trial::shrink(Columns &one) {
  static constexpr double plain[] = {0, 1, 2, -1, 3, 0.5};
  // A value that became plainer may allow others to, so several rounds are made.
  for (int round = 0; round < kShrinkRounds; ++round)
    for (size_t i = 0; i < one.size(); ++i)
      for (double value : plain) {
        bool fits = isFloat(elemOf(i % width_)) || value == std::round(value);
        // The values behind are less plain than the present one.
        if (value == one[i][0])
          break;
        Columns candidate = one;
        candidate[i][0] = value;
        if (!fits || !failing(candidate))
          continue;
        one = candidate;
        break;
      }
  failing(one); // for what they give
}

std::string Trial::text(const Columns &one, size_t from) const {
  std::vector<Value> values;
  for (size_t i = 0; i < width_; ++i)
    values.push_back(valueOf(one[from * width_ + i], elemOf(i)));
  return text(values, 0);
}

std::string Trial::text(const std::vector<Value> &values, int64_t at) const {
  std::string all;
  for (const Value &value : values)
    all += (all.empty() ? "" : ", ") + scalarText(value.asArray().elem, value.asArray().at(at));
  return width_ > 1 ? "(" + all + ")" : all;
}

std::vector<TestFailure> Trial::run(uint64_t seed, Observer *observer) {
  std::mt19937_64 generator(seed);
  Columns columns;
  for (size_t i = 0; i < 3 * width_; ++i)
    columns.push_back(draw(i % width_, generator));
  observer_ = observer;
  auto at = failing(columns);
  observer_ = nullptr;
  if (stopped_)
    return {*stopped_};
  if (!at)
    return {};
  // From here on a single triple is tried, the first that has failed.
  Columns one;
  for (const Column &column : columns)
    one.push_back({column[static_cast<size_t>(*at)]});
  shrink(one);
  TestFailure failure;
  failure.span = decl_.nameSpan;
  // The report stands at the promise.
  for (const WhereClause &where : decl_.wheres)
    if (where.text == "associative")
      failure.span = where.span;
  failure.message = "`" + decl_.name + "` is not associative: of a = " + text(one, 0) +
                    ", b = " + text(one, 1) + ", c = " + text(one, 2) + " it makes " +
                    text(left_, 0) + " as `f(f(a, b), c)`, and " + text(right_, 0) +
                    " as `f(a, f(b, c))`";
  return {failure};
}

std::vector<TestFailure> tryAssociativity(const CheckedProgram &program,
                                          const SourceManager &sources, const CallableDecl &decl,
                                          uint64_t seed, Observer *observer) {
  return Trial(program, sources, decl).run(seed, observer);
}

} // namespace ptl::reference
