// The pools of a run: the keys of pages, and which pages all parts have.
#pragma once

#include "codegen/parts/checkpoints.h"
#include "codegen/parts/elements.h"
#include "runtime/pool/page_hash.h"
#include "runtime/pool/page_tiers.h"
#include "runtime/pool/spread_pages.h"

namespace ptl::parts {

/// How many pages of a pool were found by all parts, how many of these in the memory of the parts of `over`, and how many were
/// computed.
struct PoolReport {
  std::string pool;
  std::string over = {}; ///< the level whose parts have one memory; empty: each has its own
  uint64_t found = 0, inMemory = 0, computed = 0;
};

struct PoolOptions {
  std::string folder =
      {};              ///< in which each pool with a disk has a folder; empty: pools have no disks
  bool checks = false; ///< pages that are found are computed as well, and compared
  std::string executor = {}; ///< the name of the executor of programs, with its version
  std::function<void(const PoolReport &)> report = [](const PoolReport &) {};
};

/// The key of a program's page is a hash of the program, its machine, the arguments and numbers
/// that the page depends on, and the rows up to its own. Each part stores its block under the key
/// and its box. Parts that are ranks must make the same calls in the same order; calls that stop
/// the run throw what `stop` throws.
class Pools {
public:
  using ValueAt = std::function<const reference::Value &(ValueId, uint32_t part)>;
  using BoxAt = std::function<movement::Box(ValueId, uint32_t part)>;
  using Stop = std::function<void(const std::string &why, Span span)>;

  /// `program` identifies the function that is computed: the program's text, and its executor.
  Pools(const PlacedProgram &placed, std::string program, const Grid &grid, const Sizes &sizes,
        const PoolOptions &options, OwnPart *own, ValueAt valueAt, BoxAt boxAt, Stop stop);
  ~Pools();

  /// Whether all parts have the page that a choice takes, or it lies in the memory of the parts of a level; what they have is kept
  /// for `page`.
  bool find(const PlacedChoice &choice);
  /// Whether the page lies in such a memory.
  bool liesInMemory(const PlacedChoice &choice) const {
    return chains_.at(&choice).lies.has_value();
  }
  /// The number of the part, over the level of the pool, with which the page lies, or will lie if there is room for it; else that of the part
  /// that has made it.
  uint32_t home(const PlacedChoice &choice);
  /// What has come from a memory is what `difference` compares.
  void took(const PlacedChoice &choice);
  /// What `find` has found on a part.
  reference::Value page(const PlacedChoice &choice, uint32_t part) const;
  /// Stores the page that the choice has computed.
  void keep(const PlacedChoice &choice);
  /// In the memory of the parts of a level, if there is one and it has room.
  void keepInMemory(const PlacedChoice &choice);
  /// Why what was found is not what was computed; empty if it is.
  std::string difference(const PlacedChoice &choice) const;

private:
  struct Chain {
    std::optional<pool::Key> source;                ///< hash of the arguments, over all parts
    std::vector<int64_t> numbers;                   ///< the numbers that enter the keys
    std::vector<uint8_t> rows;                      ///< the rows that enter the keys
    std::vector<pool::Key> keys;                    ///< of the pages so far
    std::map<uint32_t, std::vector<uint8_t>> found; ///< by part
    std::optional<uint32_t>
        lies; ///< the number of the part that has the page of this round in memory
  };
  Chain &chainOf(const PlacedChoice &choice) { return chains_[&choice]; }
  void open(size_t number, const PlacedChoice &choice);
  pool::Key sourceOf(const PlacedChoice &choice);
  void extend(const PlacedChoice &choice, Chain &chain);
  pool::Key keyOn(pool::Key key, const PlacedChoice &choice, uint32_t part) const;
  pool::Key over(std::vector<pool::Key> mine);
  bool onAll(bool mine);
  size_t bytesOfPage(const PlacedChoice &choice, uint32_t part) const;
  /// Room for pages, and whether they have a disk.
  pool::PoolShape shapeFor(size_t pool, uint64_t room) const;
  bool hasDisk(size_t pool) const;
  pool::Key parentOf(const Chain &chain) const;
  pool::Key keyAbove(const PlacedChoice &choice, const Chain &chain, uint32_t part) const;
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
  std::vector<std::unique_ptr<pool::SpreadPages>>
      spread_;                      ///< per pool; null: parts have no memory together
  std::vector<uint32_t> pageBytes_; ///< per pool: of the part that has most
  std::vector<PoolReport> reports_;
  std::map<const PlacedChoice *, Chain> chains_;
};

} // namespace ptl::parts
