// One run of a placed program on its parts: values, movements and results (`run_parts.cpp`), and
// loops, choices and pages of pools (`run_loops.cpp`).
#pragma once

#include "codegen/parts/chunks.h"
#include "codegen/parts/compiled_stretches.h"
#include "codegen/parts/early_moves.h"
#include "codegen/parts/exchange.h"
#include "codegen/parts/fold.h"
#include "codegen/parts/mover.h"
#include "codegen/parts/run_parts.h"
#include "codegen/parts/settle.h"
#include "codegen/reference/builtin.h"

#include <set>

namespace ptl::parts {

/// Thrown to end the run; the reason is in the result.
struct Stopped {};

/// The program of a run, its sizes, and how it ends: what all that follows goes by.
class PartsProgram {
protected:
  PartsProgram(PlacedProgram placed, const PartsOptions &options, const Grid &grid,
               const Sizes &sizes, reference::RunResult &result)
      : placed_(std::move(placed)), options_(options), grid_(grid), sizes_(sizes), result_(result) {
  }

  [[noreturn]] void stop(reference::RunStatus status, std::string why, const PlacedValue &value) {
    stopAt(status, std::move(why), value.expr ? value.expr->span : kNoSpan);
  }
  [[noreturn]] void stopAt(reference::RunStatus status, std::string why, Span span) {
    result_.status = status;
    result_.message = std::move(why);
    result_.span = span;
    throw Stopped();
  }

  std::optional<int64_t> size(SymbolId symbol) const {
    auto size = sizes_.find(symbol);
    return size == sizes_.end() ? std::nullopt : std::optional(size->second);
  }
  /// To be called before values are computed: determines on which parts the stages that compute
  /// them run.
  void settle(ValueId begin, ValueId end) {
    parts::settle(placed_, begin, end, grid_, [this](SymbolId symbol) { return size(symbol); });
  }
  int64_t number(Dim dim, const PlacedValue &value) {
    auto found = evaluate(dim, [&](SymbolId symbol) { return size(symbol); });
    if (!found)
      stop(reference::RunStatus::Fault, "a dimension has no value on the parts", value);
    return *found;
  }
  std::vector<int64_t> wholeShape(const PlacedValue &value) {
    std::vector<int64_t> shape;
    for (Dim dim : value.shape)
      shape.push_back(number(dim, value));
    return shape;
  }
  /// The box of a value that a part has, in coordinates of the whole value.
  movement::Box boxAt(const PlacedValue &value, uint32_t part) {
    return grid_.boxOf(value.placement, wholeShape(value), part);
  }

  PlacedProgram placed_; ///< with the current parts of running stages
  const PartsOptions &options_;
  const Grid &grid_;
  Sizes sizes_; ///< including the variables of loops
  reference::RunResult &result_;
};

/// The values of a run, and how they move: at once (`run_moves.cpp`), or while parts compute (`run_early_moves.cpp`).
class PartsMoves : protected PartsProgram {
protected:
  PartsMoves(PlacedProgram placed, const PartsOptions &options, const Grid &grid,
             const Sizes &sizes, reference::RunResult &result)
      : PartsProgram(std::move(placed), options, grid, sizes, result),
        values_(placed_.values.size()) {
    for (uint32_t part = 0; part < grid.count(); ++part)
      if (!options.own || options.own->part == part)
        here_.push_back(part);
    if (options.own && options.movesBeside) {
      mover_ = std::make_unique<Mover>();
      pairs_ = chunkedPairsOf(placed_);
    }
  }

  virtual ~PartsMoves() = default;
  /// What a part has of a value, which is waited for if it is on its way, and computed if it was put off.
  const reference::Value &at(ValueId id, uint32_t part) {
    land(id);
    if (values_[id][part].isNone())
      catchUp(id, part);
    return values_[id][part];
  }
  /// Computes a value on a part that was put off.
  virtual void catchUp(ValueId id, uint32_t part) = 0;
  /// The same on all parts that this process computes.
  void catchUpAll(ValueId id) {
    land(id);
    for (uint32_t part : here_)
      if (values_[id][part].isNone())
        catchUp(id, part);
  }
  /// Stops the run if the source names a part that the machine does not have.
  void checkParts(const PlacedValue &value);

  // At once.
  void move(ValueId id);
  std::vector<GroupMove> groupsOfMove(ValueId id);
  std::vector<reference::Value> takenFrom(const GroupMove &group, ValueId from);
  std::vector<movement::Box> blocksOf(const GroupMove &group, const PlacedValue &value);
  void moveGroup(const GroupMove &group, const PlacedValue &value, Fold fold,
                 const std::vector<reference::Value> &have,
                 const std::vector<movement::Box> &blocks, std::vector<reference::Value> &to);
  Bytes asRank(const GroupMove &group, const PlacedValue &value, size_t elementBytes,
               const Bytes &source, const movement::CombineBytes &combine);
  reference::Value movedByRank(const GroupMove &group, const PlacedValue &value, Fold fold,
                               const reference::Value &have);
  uint64_t nextSeed() { return options_.seed + 0x9e3779b97f4a7c15 * ++moves_; }
  /// Before this thread speaks with other parts itself.
  void waitForMoves() {
    if (mover_)
      mover_->waitForAll();
  }

  // While parts compute.
  struct Leg;
  struct Flight;
  const EarlyMoves &earlyMoves(ValueId begin, ValueId end);
  void begin(ValueId id);
  void setOff(ValueId id, Flight &flight);
  void setOffTogether(ValueId id, Flight &flight);
  void send(ValueId id, Leg leg, Flight &flight);
  void land(ValueId id);
  void land(ValueId id, const Flight &flight, Leg &leg);
  // By chunks, beside a product.
  const ChunkedPair *pairWith(ValueId id, ValueId ChunkedPair::*which) const;
  size_t axisOf(const ChunkedPair &pair) const;
  std::vector<Chunk> chunksOfPair(const ChunkedPair &pair, const GroupMove &group);
  void sendChunk(const ChunkedPair &pair, const GroupMove &group, const Chunk &chunk,
                 reference::Value sent, Flight &flight);

  std::vector<std::vector<reference::Value>>
      values_;                 ///< per value and part; none where a part has no block
  std::vector<uint32_t> here_; ///< the parts that this process computes
  /// The levels and coordinates of the parts that do the bodies of `parallel`s over parts now, of the outermost body first.
  std::vector<std::pair<size_t, uint32_t>> only_;
  uint64_t moves_ = 0;
  std::vector<ChunkedPair> pairs_; ///< of a rank whose movements go on beside
  std::map<std::pair<ValueId, ValueId>, EarlyMoves> early_; ///< by the values of a body
  std::map<ValueId, std::shared_ptr<Flight>> flights_;      ///< which have not landed
  std::unique_ptr<Mover>
      mover_; ///< ends first, since its work uses the others; null: none go on beside
};

/// What other code than the reference executor computes (`run_compiled.cpp`).
class PartsStretches : protected PartsMoves {
protected:
  /// `mayRepeat`: executing a call twice cannot be noticed.
  PartsStretches(PlacedProgram placed, const PartsOptions &options, const Grid &grid,
                 const Sizes &sizes, reference::RunResult &result, bool mayRepeat);

  bool putOff(ValueId id);
  /// Says which stretches have been computed by what (`stretch_notes.cpp`).
  void noteStretches(const SourceManager &sources) const;
  void computeComplete();
  std::optional<reference::Value> appliedByCode(const PlacedValue &value, uint32_t part,
                                                const std::vector<reference::Value> &operands,
                                                const std::vector<int64_t> &shape);
  /// The value of a part by the reference executor.
  virtual reference::Value madeAlone(ValueId id, uint32_t part) = 0;

private:
  void leave(size_t number, LeftBecause why, uint64_t times = 1);
  void beginStretch(size_t number);
  void compute(size_t number, uint32_t part);
  void catchUp(ValueId id, uint32_t part) final;
  double rounds(const Stretch &stretch);
  bool isWorth(size_t number, uint32_t part);
  std::optional<std::vector<reference::Value>>
  compiled(const Stretch &stretch, uint32_t part, const ExtentsOf &extents,
           const std::vector<reference::Value> &inputs);

  CompiledStretches compiled_;            ///< empty without other code
  std::vector<StretchProgress> progress_; ///< by stretch
  std::vector<size_t> complete_;          ///< stretches whose values have had their turn
  std::vector<bool> isPutOff_;            ///< by value: in the present round
  std::set<SymbolId> known_;              ///< those that had their numbers before the run
};

/// What parts compute: values, loops, choices, pages and results.
class PartsRun final : PartsStretches {
public:
  PartsRun(const CheckedProgram &program, const SourceManager &sources, PlacedProgram placed,
           std::string text, const PartsOptions &options, const Grid &grid, const Sizes &sizes,
           reference::RunResult &result)
      : PartsStretches(std::move(placed), options, grid, sizes, result, !prints(program)),
        program_(program), sources_(sources),
        pools_(
            placed_, std::move(text), grid, sizes_, options.pools, options.own,
            [this](ValueId id, uint32_t part) -> const reference::Value & { return at(id, part); },
            [this](ValueId id, uint32_t part) { return boxAt(placed_.values[id], part); },
            [this](const std::string &why, Span span) {
              stopAt(reference::RunStatus::Silent, why, span);
            }) {}

  void run(const std::vector<reference::Value> &args) {
    try {
      makeAll(0, static_cast<ValueId>(placed_.values.size()), args);
      noteStretches(sources_);
      for (size_t output = 0; output < placed_.outputs.size(); ++output)
        result_.outputs.push_back(options_.own ? gathered(output)
                                               : assembled(placed_.outputs[output]));
    } catch (Stopped) {
      result_.outputs.clear();
    }
  }

private:
  static bool prints(const CheckedProgram &program);
  void makeAll(ValueId begin, ValueId end, const std::vector<reference::Value> &args);
  void make(ValueId id, const std::vector<reference::Value> &args);
  void repeat(const PlacedLoop &loop, const std::vector<reference::Value> &args);
  void repeatWhile(const PlacedLoop &loop, const std::vector<reference::Value> &args);
  void beginLoop(const PlacedLoop &loop);
  bool holds(ValueId id, const Expr &condition);
  void makeOnEach(const PlacedParts &parts, const std::vector<reference::Value> &args);
  void choose(const PlacedChoice &choice, const std::vector<reference::Value> &args);
  void settleHome(ValueId id);
  void takeFromDisk(const PlacedChoice &choice);
  void usePool(const PlacedChoice &choice, bool isMissing,
               const std::vector<reference::Value> &args);
  void goOn(const PlacedLoop &loop, std::vector<std::vector<reference::Value>> carried);
  bool endRound(const PlacedLoop &loop);
  bool isLeft(const PlacedLoop &loop);
  /// A loop whose state is saved in checkpoints.
  struct SavedLoop {
    LoopCheckpoints checkpoints;
    int64_t every = 1;
    int64_t done = 0;            ///< iterations, including those of earlier runs
    std::optional<int64_t> next; ///< where the run resumes; nothing: at the beginning
  };
  std::unique_ptr<SavedLoop> resume(const PlacedLoop &loop);
  void save(const PlacedLoop &loop, SavedLoop &saved, int64_t next);
  reference::Value onPart(const PlacedValue &value, uint32_t part,
                          const std::vector<reference::Value> &args);
  reference::Value argument(const PlacedValue &value, uint32_t part,
                            const std::vector<reference::Value> &args);
  reference::Value printed(const PlacedValue &value, uint32_t part);
  reference::Value zerosOf(const PlacedValue &value, uint32_t part);
  reference::Value selected(const PlacedValue &value, uint32_t part);
  reference::Value applied(const PlacedValue &value, uint32_t part);
  /// The operands of a built-in on a part, without the one that is left out.
  std::vector<reference::Value> operandsAt(const PlacedValue &value, uint32_t part,
                                           std::optional<size_t> without);
  reference::Value appliedTo(const PlacedValue &value, uint32_t part,
                             std::vector<reference::Value> operands, std::vector<int64_t> shape);
  reference::Value called(const PlacedValue &value, uint32_t part);
  reference::Value converted(const PlacedValue &value, uint32_t part);
  reference::Value evaluated(reference::BuiltinCall call, const PlacedValue &value, uint32_t part);
  reference::Value made(ValueId id, uint32_t part, const std::vector<reference::Value> &args);
  reference::Value madeAlone(ValueId id, uint32_t part) override { return made(id, part, {}); }
  // By chunks (`run_early_moves.cpp`).
  bool multiplyWhatCame(const ChunkedPair &pair);
  bool sendWhatIsComputed(const ChunkedPair &pair);
  bool madeByChunks(ValueId id);
  reference::Value multiplied(const PlacedValue &value, std::vector<reference::Value> operands,
                              size_t axis, const Chunk &chunk);
  void route(ValueId id);
  reference::Value gathered(size_t output);
  void writeOwn(size_t output, const PlacedValue &value, const reference::Value &have);
  reference::Value assembled(ValueId id);

  const CheckedProgram &program_;
  const SourceManager &sources_;
  std::map<uint32_t, std::vector<reference::Value>> callResults_; ///< of the latest call, per part
  Pools pools_;
};

} // namespace ptl::parts
