#include "compile/call/example_call.h"

#include "compile/call/arguments.h"

#include "codegen/reference/scalar_ops.h"
#include "frontend/base/given_value.h"
#include "frontend/sema/example_names.h"
#include "runtime/elem.h"

#include <algorithm>
#include <cmath>

namespace ptl {

/// Without any size the largest array has about so many elements: more than a cache, less than a
/// chip's memory.
static constexpr double kAssumedElements = 1 << 24;

static const int64_t *find(const ExampleSizes &wanted, const CallableDecl &decl,
                           const std::string &name) {
  // A value for this declaration wins over one for any.
  auto found = wanted.find(decl.name + "." + name);
  if (found == wanted.end())
    found = wanted.find(name);
  return found == wanted.end() ? nullptr : &found->second;
}

ExampleSizes sizesWanted(const CallableDecl &decl, const Wanted &wanted) {
  ExampleSizes sizes;
  for (const auto &[name, value] : wantedBy(decl, wanted)) {
    // The others are element types.
    if (std::optional<int64_t> number = givenNumber(value))
      sizes[name] = *number;
  }
  return sizes;
}

Wanted staticSizes(const CallableDecl &decl, const ExampleSizes &wanted) {
  Wanted result;
  for (const DimParam &dim : decl.dims)
    if (const int64_t *value = find(wanted, decl, dim.name); value && dim.isStatic)
      result[decl.name + "." + dim.name] = std::to_string(*value);
  return result;
}

namespace {

class Chooser {
public:
  Chooser(const CheckedProgram &program, const BoundEntry &bound, const rt::Entry &entry,
          const ExampleSizes &wanted)
      : bound_(bound), decl_(*bound.binding.decl), entry_(entry), wanted_(wanted),
        dims_(entry.dims.size()), leading_(bound.binding.prefixRank) {
    for (const CallSite &call : callsOf(program, decl_))
      // Only benches have sizes that a time should be measured for.
      if (call.caller->kind == DeclKind::Bench)
        calls_.push_back(call);
  }

  void choose();
  std::optional<ExampleCall> make(std::string &problem);

private:
  void chooseDim(size_t number);
  void chooseLeading(size_t axis);
  void chooseExamples();
  void assume();
  int64_t broken() const;
  int64_t suiting(size_t dim);
  void chooseScalars();
  void chooseScalar(const rt::Param &param);
  bool isOfNumbers(const rt::Expr &expr) const;
  ElemKind elemOf(const rt::Param &param) const;
  std::optional<int64_t> lengthOf(const rt::Expr &axis) const {
    return rt::evaluateInt(axis, rt::ExprValues{dims_, result_.scalars, scalarElems_, {}, nullptr});
  }
  double assumedFor(const rt::Param &param) const;

  const BoundEntry &bound_;
  const CallableDecl &decl_;
  const rt::Entry &entry_;
  const ExampleSizes &wanted_;
  std::vector<CallSite> calls_; ///< in benches
  std::vector<std::optional<int64_t>> dims_, leading_;
  std::vector<int32_t> scalarElems_; ///< of the scalars of the call
  ExampleCall result_;
};

} // namespace

void Chooser::chooseDim(size_t number) {
  const DimParam &dim = decl_.dims[number];
  auto choose = [&](int64_t value, std::string why) {
    dims_[number] = value;
    result_.sizes.push_back({dim.name, value, std::move(why)});
  };
  // What was bound when compiling must be used when running.
  if (auto bound = bound_.binding.statics.find(dim.name); bound != bound_.binding.statics.end()) {
    for (const Choice &choice : bound_.choices)
      if (choice.name == dim.name)
        return choose(bound->second, choice.why);
    return choose(bound->second, "bound");
  }
  if (const int64_t *value = find(wanted_, decl_, dim.name))
    return choose(*value, "asked for");
  for (const CallSite &call : calls_)
    if (number < call.expr->dimArgs.size())
      // A length that follows from the caller's own dimensions is not known.
      if (auto value = call.expr->dimArgs[number].constant())
        return choose(*value, describeCaller(*call.caller));
}

void Chooser::chooseLeading(size_t axis) {
  if (const int64_t *value = find(wanted_, decl_, "..")) {
    leading_[axis] = *value;
    return result_.sizes.push_back({"..", *value, "asked for"});
  }
  for (const CallSite &call : calls_) {
    const std::vector<Extent> &given = call.expr->prefixArgs;
    // A call with another number of leading axes says nothing of these.
    if (call.expr->prefixHasPrefix || given.size() != leading_.size())
      continue;
    if (std::optional<int64_t> value = given[axis].length.constant()) {
      leading_[axis] = value;
      return result_.sizes.push_back({"..", *value, describeCaller(*call.caller)});
    }
  }
}

/// The length that each axis of an array which nothing fixes would have.
double Chooser::assumedFor(const rt::Param &param) const {
  double known = 1;
  int open = 0;
  // Lengths that are known take their part of the elements.
  for (const rt::Expr &axis : param.shape)
    if (std::optional<int64_t> length = lengthOf(axis))
      known *= static_cast<double>(std::max<int64_t>(*length, 1));
    else
      ++open;
  for (const std::optional<int64_t> &length : leading_)
    if (param.hasLeading && length)
      known *= static_cast<double>(std::max<int64_t>(*length, 1));
    else
      open += param.hasLeading;
  // The rest is spread evenly over the open axes.
  return open ? std::pow(kAssumedElements / known, 1.0 / open) : HUGE_VAL;
}

void Chooser::assume() {
  // The array that needs the shortest lengths decides for all.
  double least = HUGE_VAL;
  for (const rt::Param &param : entry_.params)
    if (param.isArray())
      least = std::min(least, assumedFor(param));
  if (least == HUGE_VAL)
    least = 1024; // no array has it
  auto length =
      // A power of two suits most tiles. The small summand keeps exact powers from being rounded
      // down.
      static_cast<int64_t>(std::exp2(std::floor(std::log2(std::max(least, 16.0)) + 1e-9)));
  for (std::optional<int64_t> &each : leading_)
    if (!each) {
      each = length;
      result_.sizes.push_back({"..", length, "assumed"});
    }
  std::vector<size_t> open;
  // First every open dimension gets this length, because requirements may relate several.
  for (size_t i = 0; i < dims_.size(); ++i)
    if (!dims_[i]) {
      dims_[i] = length;
      open.push_back(i);
    }
  // Then each is made smaller if requirements ask for that.
  for (size_t i : open) {
    dims_[i] = suiting(i);
    result_.sizes.push_back({entry_.dims[i].name, *dims_[i], "assumed"});
  }
}

/// Whether lengths and integers of the caller alone are in it.
bool Chooser::isOfNumbers(const rt::Expr &expr) const {
  using Op = rt::Expr::Op;
  switch (expr.op) {
  case Op::Scalar:
    return !result_.assumedScalars[static_cast<size_t>(expr.index)];
  case Op::Elem:
  case Op::All:
  case Op::Unique:
  case Op::Sorted:
    return false;
  default:
    return std::ranges::all_of(expr.args, [&](const rt::Expr &arg) { return isOfNumbers(arg); });
  }
}

/// How many requirements of the entry do not hold; those that need more than these numbers do not
/// count.
int64_t Chooser::broken() const {
  return std::count_if(entry_.wheres.begin(), entry_.wheres.end(), [&](const rt::Where &where) {
    // A requirement that cannot be evaluated does not count as broken.
    return isOfNumbers(where.expr) && lengthOf(where.expr) == 0;
  });
}

/// The assumed length of a dimension, halved as long as fewer requirements are broken by that.
int64_t Chooser::suiting(size_t dim) {
  int64_t length = *dims_[dim], best = length, least = broken();
  // Halving stops when nothing is broken any more.
  for (; least > 0 && length > 1; length /= 2) {
    dims_[dim] = length / 2;
    if (int64_t now = broken(); now < least) {
      least = now;
      best = length / 2;
    }
  }
  return best;
}

/// Chooses the integers that data decides while the program runs.
void Chooser::chooseExamples() {
  for (const std::string &name : exampleNames(decl_))
    // A name may stand for several integers, of which the first counts.
    if (const int64_t *value = find(wanted_, decl_, name);
        value && result_.examples.emplace(name, *value).second)
      result_.sizes.push_back({name, *value, "asked for"});
}

void Chooser::choose() {
  // Scalars come first, because lengths may depend on them.
  chooseScalars();
  for (size_t axis = 0; axis < leading_.size(); ++axis)
    chooseLeading(axis);
  for (size_t i = 0; i < std::min(decl_.dims.size(), dims_.size()); ++i)
    chooseDim(i);
  assume();
  chooseExamples();
}

ElemKind Chooser::elemOf(const rt::Param &param) const {
  if (param.elem)
    return elemKindByName(rt::elemName(*param.elem)).value_or(ElemKind::F32);
  auto number = static_cast<size_t>(std::max(param.typeParam, 0));
  return number < bound_.binding.elems.size() ? bound_.binding.elems[number] : ElemKind::F32;
}

/// Integers are 1 unless something else is known. Nothing is assumed about other numbers.
void Chooser::chooseScalars() {
  for (const rt::Param &param : entry_.params) {
    if (param.isArray())
      continue;
    PtlScalar cell{};
    ElemKind kind = elemOf(param);
    const int64_t *value = find(wanted_, decl_, param.name);
    // The bits of a float do not matter for times.
    storeElem(&cell, kind, isFloat(kind) ? Scalar::real(1) : Scalar{0, value ? *value : 1});
    result_.scalars.push_back(cell);
    result_.assumedScalars.push_back(isFloat(kind));
    scalarElems_.push_back(rt::elemFromName(elemName(kind)).value_or(PTL_F32));
  }
}

void Chooser::chooseScalar(const rt::Param &param) {
  const int64_t *value = find(wanted_, decl_, param.name);
  if (!isFloat(elemOf(param)))
    result_.sizes.push_back({param.name, value ? *value : 1, value ? "asked for" : "assumed"});
}

std::optional<ExampleCall> Chooser::make(std::string &problem) {
  for (const std::optional<int64_t> &length : leading_)
    result_.lengths.push_back(*length);
  for (const std::optional<int64_t> &length : dims_)
    result_.lengths.push_back(*length);
  for (const rt::Param &param : entry_.params) {
    if (!param.isArray()) {
      chooseScalar(param);
      continue;
    }
    std::vector<int64_t> extents;
    if (param.hasLeading)
      for (const std::optional<int64_t> &length : leading_)
        extents.push_back(*length);
    for (size_t axis = 0; axis < param.shape.size(); ++axis) {
      std::optional<int64_t> length = lengthOf(param.shape[axis]);
      // A length may become negative, for instance as `N - 8`.
      if (!length || *length < 0) {
        problem = "the axis `" + param.axisTexts[axis] + "` of `" + param.name +
                  "` has no length for these sizes";
        return std::nullopt;
      }
      extents.push_back(*length);
    }
    ElemKind kind = elemOf(param);
    int64_t bytes = elemBytes(kind);
    for (int64_t extent : extents)
      bytes *= extent;
    result_.bytes += bytes;
    // Arrays whose elements decide addresses or counts get data.
    if (auto assumed = assumeElements(entry_, param, dims_, extents)) {
      result_.elements.push_back(std::move(assumed->elements));
      result_.data.emplace(result_.extents.size(), std::move(assumed->array));
    }
    result_.extents.push_back(std::move(extents));
    result_.elems.push_back(rt::elemFromName(elemName(kind)).value_or(PTL_F32));
  }
  return std::move(result_);
}

std::optional<ExampleCall> exampleCall(const CheckedProgram &program, const BoundEntry &bound,
                                       const rt::Entry &entry, const ExampleSizes &wanted,
                                       std::string &problem) {
  Chooser chooser(program, bound, entry, wanted);
  chooser.choose();
  return chooser.make(problem);
}

bool ExampleCall::draw(const rt::Entry &entry) {
  size_t number = 0;
  for (const rt::Param &param : entry.params) {
    if (!param.isArray())
      continue;
    size_t own = number++;
    if (data.contains(own))
      continue;
    std::optional<rt::OwnedArray> array =
        rt::OwnedArray::make(static_cast<PtlElem>(elems[own]), extents[own]);
    if (!array)
      return false;
    if (param.kind != PTL_PARAM_OUTPUT) {
      fillRandomly(*array, own + 1);
      elements.push_back({param.name, "random(seed: " + std::to_string(own + 1) + ")"});
    }
    data.emplace(own, std::move(*array));
  }
  return true;
}

rt::Failure ExampleCall::run(ChipRunner &runner, const ChipRun &how) const {
  std::vector<PtlArray> arrays(extents.size());
  std::vector<const PtlArray *> pointers;
  ChipRun chip = how;
  chip.examples = examples;
  chip.assumedScalars = assumedScalars;
  for (size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].elem = elems[i];
    arrays[i].rank = static_cast<int64_t>(extents[i].size());
    arrays[i].extents = extents[i].data();
    // Other arrays have no data; the simulator only asks for their shapes.
    if (auto given = data.find(i); given != data.end()) {
      arrays[i].data = given->second.data();
      chip.known.push_back(arrays[i].data);
    }
    pointers.push_back(&arrays[i]);
  }
  return runner.run(pointers, scalars, lengths, chip);
}

} // namespace ptl
