// The pools of a run: what the keys of pages are, and which pages all parts have.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "codegen/parts/elements.h"
#include "runtime/pool/page_hash.h"
#include "runtime/pool/page_tiers.h"

namespace ptl::parts {

/// How many pages of a pool were found by all parts, and how many were computed.
struct PoolReport {
  std::string pool;
  uint64_t found = 0, computed = 0;
};

struct PoolOptions {
  std::string folder =
      {};              ///< in which each pool with a disk has a folder; empty: pools have no disks
  bool checks = false; ///< what is found is computed, too, and compared
  std::string executor = {}; ///< who executes programs, with its version
  std::function<void(const PoolReport &)> report = [](const PoolReport &) {};
};

/// The key of a page of a program is made of the program, its machine, the arguments and numbers that the page depends on, and
/// the rows up to its own. Each part keeps its block under the key and its box. Parts that are ranks make the same calls in
/// the same order; calls that stop throw what `stop` throws.
class Pools {
public:
  using ValueAt = std::function<const reference::Value &(ValueId, uint32_t part)>;
  using BoxAt = std::function<movement::Box(ValueId, uint32_t part)>;
  using Stop = std::function<void(const std::string &why, Span span)>;

  /// `program`: what the results are a function of beside arguments: its text, and who executes it.
  Pools(const PlacedProgram &placed, std::string program, const Grid &grid, const Sizes &sizes,
        const PoolOptions &options, OwnPart *own, ValueAt valueAt, BoxAt boxAt, Stop stop);
  ~Pools();

  /// Whether all parts have the page that a choice takes; what they have is kept for `page`.
  bool find(const PlacedChoice &choice);
  /// What `find` has found on a part.
  reference::Value page(const PlacedChoice &choice, uint32_t part) const;
  /// Keeps the page that the choice has made.
  void keep(const PlacedChoice &choice);
  /// Why what was found is not what was computed; empty if it is.
  std::string difference(const PlacedChoice &choice) const;

private:
  struct Chain {
    std::optional<pool::Key> source;                ///< of the arguments, over all parts
    std::vector<int64_t> numbers;                   ///< that the keys are made with
    std::vector<uint8_t> rows;                      ///< likewise
    std::vector<pool::Key> keys;                    ///< of the pages so far
    std::map<uint32_t, std::vector<uint8_t>> found; ///< by part
  };
  Chain &chainOf(const PlacedChoice &choice) { return chains_[&choice]; }
  void open(size_t number, const PlacedChoice &choice);
  pool::Key sourceOf(const PlacedChoice &choice);
  void extend(const PlacedChoice &choice, Chain &chain);
  pool::Key keyOn(pool::Key key, const PlacedChoice &choice, uint32_t part) const;
  pool::Key over(std::vector<pool::Key> mine);
  bool onAll(bool mine);
  size_t bytesOfPage(const PlacedChoice &choice, uint32_t part) const;
  const PlacedValue &pageOf(const PlacedChoice &choice) const {
    return placed_.values[choice.page->kept];
  }

  const PlacedProgram &placed_;
  std::string program_;
  const Grid &grid_;
  const Sizes &sizes_;
  const PoolOptions &options_;
  OwnPart *own_;
  ValueAt valueAt_;
  BoxAt boxAt_;
  Stop stop_;
  std::vector<uint32_t> here_;
  std::vector<std::unique_ptr<pool::PageTiers>> tiers_; ///< per pool
  std::vector<uint32_t> pageBytes_;                     ///< per pool: of the part that has most
  std::vector<PoolReport> reports_;
  std::map<const PlacedChoice *, Chain> chains_;
};

} // namespace ptl::parts
