// Stretches that other code than the reference executor computes. Each is computed as a whole when all of its values have had their
// turn, or when something needs one of them; where that fails, the reference executor computes them one after the other.
#include "codegen/parts/elements.h"
#include "codegen/parts/parts_run.h"

#include <algorithm>
#include <utility>

namespace ptl::parts {

using reference::Value;

PartsStretches::PartsStretches(PlacedProgram placed, const PartsOptions &options, const Grid &grid,
                               const Sizes &sizes, reference::RunResult &result, bool mayRepeat)
    : PartsMoves(std::move(placed), options, grid, sizes, result) {
  if (!options_.code)
    return;
  std::vector<ValueId> alone;
  // In one process and on ranks they are computed by the same code.
  for (const ChunkedPair &pair : chunkedPairsOf(placed_))
    if (std::ranges::find(alone, pair.product) == alone.end())
      alone.push_back(pair.product);
  compiled_ = compiledStretchesOf(placed_, std::move(alone), mayRepeat);
  progress_.resize(compiled_.stretches.size());
  for (StretchProgress &each : progress_) {
    each.isDone.resize(grid_.count());
    each.isWorth.resize(grid_.count());
  }
  isPutOff_.resize(placed_.values.size());
  for (const auto &[symbol, size] : sizes_)
    known_.insert(symbol);
}

/// How often the same text is executed: as often as the loops around it go round, unless it depends on more than the sizes of
/// the run. It must be known without having run, because a run that resumes has to compute alike.
double PartsStretches::rounds(const Stretch &stretch) {
  constexpr double unknown = 8; ///< of loops whose rounds data decide
  auto isKnown = [&](Dim dim) {
    bool all = true;
    if (dim.isKnown())
      forEachSymbol(dim, [&](SymbolId symbol) { all = all && known_.contains(symbol); });
    return all;
  };
  bool isSame = true;
  forEachDim(placed_, stretch, [&](Dim dim) { isSame = isSame && isKnown(dim); });
  double rounds = 1;
  ValueId first = stretch.own.front();
  for (const PlacedLoop &loop : placed_.loops) {
    if (!isSame || first < loop.body() || first >= loop.end)
      continue;
    if (!loop.stmt || !isKnown(loop.lo) || !isKnown(loop.hi) || !isKnown(loop.step)) {
      rounds *= unknown;
      continue;
    }
    const PlacedValue &at = placed_.values[loop.first];
    int64_t lo = number(loop.lo, at), hi = number(loop.hi, at), step = number(loop.step, at);
    rounds *= hi > lo && step > 0 ? static_cast<double>((hi - lo - 1) / step + 1) : 1;
  }
  return isSame ? rounds : 0;
}

/// Whether compiling a stretch takes less time than it saves.
bool PartsStretches::isWorth(size_t number, uint32_t part) {
  if (options_.code->worth <= 0)
    return true;
  std::optional<bool> &known = progress_[number].isWorth[part];
  if (known)
    return *known;
  const Stretch &stretch = compiled_.stretches[number];
  double times = rounds(stretch);
  bool isKnown = true;
  auto extents = [&](ValueId id) {
    for (Dim dim : placed_.values[id].shape)
      if (!evaluate(dim, [&](SymbolId symbol) { return size(symbol); })) {
        isKnown = false;
        return std::vector<int64_t>{0};
      }
    return shapeOfBox(boxAt(placed_.values[id], part));
  };
  double one = referenceTime(placed_, stretch, extents);
  bool isWorth = isKnown && one * std::max(times, 1.0) >= options_.code->worth;
  if (times > 0)
    known = isWorth;
  return isWorth;
}

void PartsStretches::leave(size_t number, LeftBecause why, uint64_t times) {
  progress_[number].left[static_cast<size_t>(why)] += times;
}

void PartsStretches::beginStretch(size_t number) {
  const Stretch &stretch = compiled_.stretches[number];
  StretchProgress &progress = progress_[number];
  progress.isComplete = false;
  std::fill(progress.isDone.begin(), progress.isDone.end(), false);
  auto isHere = [&](uint32_t part) {
    return grid_.holds(placed_.values[stretch.own.front()].placement, part);
  };
  progress.isPutOff = std::ranges::any_of(
      here_, [&](uint32_t part) { return isHere(part) && isWorth(number, part); });
  if (!progress.isPutOff)
    leave(number, LeftBecause::IsSmall,
          static_cast<uint64_t>(std::ranges::count_if(here_, isHere)));
}

/// Whether a value is made later, with its stretch or when something needs it.
bool PartsStretches::putOff(ValueId id) {
  if (!options_.code)
    return false;
  std::optional<size_t> home = compiled_.home[id];
  if (home && compiled_.stretches[*home].own.front() == id)
    beginStretch(*home);
  isPutOff_[id] = home ? progress_[*home].isPutOff : compiled_.onDemand[id];
  if (!isPutOff_[id])
    return false;
  for (uint32_t part : here_)
    values_[id][part] = Value();
  if (!home || compiled_.stretches[*home].own.back() != id)
    return true;
  StretchProgress &progress = progress_[*home];
  progress.isComplete = true;
  complete_.push_back(*home);
  // What it needs of another stretch may not have had its turn yet.
  bool isReady = std::ranges::all_of(compiled_.stretches[*home].inputs, [&](ValueId input) {
    std::optional<size_t> from = compiled_.home[input];
    return !from || !progress_[*from].isPutOff || progress_[*from].isComplete;
  });
  for (uint32_t part : here_)
    if (isReady && grid_.holds(placed_.values[id].placement, part))
      compute(*home, part);
  return true;
}

/// Computes all stretches whose values have had their turn. Later their parts and numbers may be those of another round.
void PartsStretches::computeComplete() {
  for (size_t number : std::exchange(complete_, {}))
    for (uint32_t part : here_)
      if (grid_.holds(placed_.values[compiled_.stretches[number].own.front()].placement, part))
        compute(number, part);
}

/// Computes a stretch on a part, once in a round.
void PartsStretches::compute(size_t number, uint32_t part) {
  if (progress_[number].isDone[part])
    return;
  progress_[number].isDone[part] = true;
  const Stretch &stretch = compiled_.stretches[number];
  if (isWorth(number, part)) {
    std::vector<Value> inputs;
    for (ValueId id : stretch.inputs)
      inputs.push_back(at(id, part));
    auto extents = [&](ValueId id) { return shapeOfBox(boxAt(placed_.values[id], part)); };
    if (std::optional<std::vector<Value>> results = compiled(stretch, part, extents, inputs)) {
      for (size_t i = 0; i < stretch.outputs.size(); ++i)
        values_[stretch.outputs[i]][part] = std::move((*results)[i]);
      return;
    }
  } else {
    leave(number, LeftBecause::IsSmall);
  }
  for (ValueId id : stretch.values)
    if (isPutOff_[id] && values_[id][part].isNone())
      values_[id][part] = madeAlone(id, part);
}

void PartsStretches::catchUp(ValueId id, uint32_t part) {
  if (!options_.code || !isPutOff_[id] || !grid_.holds(placed_.values[id].placement, part))
    return;
  if (std::optional<size_t> home = compiled_.home[id]; home && progress_[*home].isComplete)
    compute(*home, part);
  if (values_[id][part].isNone())
    values_[id][part] = madeAlone(id, part);
}

/// The results of a stretch by other code; nothing if the reference executor has to compute it.
std::optional<std::vector<Value>> PartsStretches::compiled(const Stretch &stretch, uint32_t part,
                                                           const ExtentsOf &extents,
                                                           const std::vector<Value> &inputs) {
  auto stretchNumber = static_cast<size_t>(&stretch - compiled_.stretches.data());
  auto isLeft = [&](LeftBecause why) {
    leave(stretchNumber, why);
    return std::nullopt;
  };
  for (const Value &input : inputs)
    if (input.isNone() || input.hasUndefined() || reference::elementCount(input.shape()) == 0)
      return isLeft(LeftBecause::HasNoElements);
  bool isKnown = true;
  auto numberOf = [&](Dim dim) {
    std::optional<int64_t> found = evaluate(dim, [&](SymbolId symbol) { return size(symbol); });
    isKnown = isKnown && found;
    return found.value_or(0);
  };
  std::string text;
  if (staysInside(placed_, stretch, extents, numberOf))
    text = sourceOf(placed_, stretch, extents, numberOf);
  if (text.empty() || !isKnown)
    return isLeft(LeftBecause::HasNoText);
  std::optional<std::vector<Value>> results = options_.code->compute(text, inputs);
  if (!results)
    return isLeft(LeftBecause::IsRefused);
  ++progress_[stretchNumber].compiled;
  for (size_t i = 0; i < stretch.outputs.size(); ++i) {
    const PlacedValue &value = placed_.values[stretch.outputs[i]];
    if (!std::ranges::equal((*results)[i].shape(), extents(stretch.outputs[i])) ||
        (*results)[i].elem() != value.elem)
      stop(reference::RunStatus::Fault,
           grid_.name(part) + " has computed " +
               reference::typeText((*results)[i].elem(), (*results)[i].shape()) + ", not " +
               reference::typeText(value.elem, extents(stretch.outputs[i])),
           value);
  }
  return results;
}

/// A product of a chunk of one operand, by other code; nothing if the reference executor has to compute it. `shape` is that of the
/// result.
std::optional<Value> PartsStretches::appliedByCode(const PlacedValue &value, uint32_t part,
                                                   const std::vector<Value> &operands,
                                                   const std::vector<int64_t> &shape) {
  auto id = static_cast<ValueId>(&value - placed_.values.data());
  if (!options_.code || !compiled_.home[id])
    return std::nullopt;
  const Stretch &stretch = compiled_.stretches[*compiled_.home[id]];
  // A chunk is not the whole that other operands may be.
  bool isAlone = stretch.values.size() == 1 && stretch.inputs.size() == value.operands.size();
  if (!isAlone || !isWorth(*compiled_.home[id], part))
    return std::nullopt;
  std::map<ValueId, size_t> places;
  for (size_t i = 0; i < operands.size(); ++i)
    places[*value.operands[i]] = i;
  std::vector<Value> inputs;
  for (ValueId input : stretch.inputs)
    inputs.push_back(operands[places[input]]);
  auto extents = [&](ValueId of) {
    if (of == id)
      return shape;
    std::span<const int64_t> given = operands[places[of]].shape();
    return std::vector<int64_t>(given.begin(), given.end());
  };
  std::optional<std::vector<Value>> results = compiled(stretch, part, extents, inputs);
  return results ? std::optional(std::move(results->front())) : std::nullopt;
}

} // namespace ptl::parts
