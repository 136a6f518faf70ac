#include "codegen/parts/pools.h"

#include "frontend/base/elem_type.h"

#include <algorithm>

namespace ptl::parts {

using pool::Key;
using pool::KeyMaker;
using reference::Value;

Pools::Pools(const PlacedProgram &placed, std::string program, const Grid &grid, const Sizes &sizes,
             const PoolOptions &options, OwnPart *own, ValueAt valueAt, BoxAt boxAt, Stop stop)
    : placed_(placed), program_(std::move(program)), grid_(grid), sizes_(sizes), options_(options),
      own_(own), valueAt_(std::move(valueAt)), boxAt_(std::move(boxAt)), stop_(std::move(stop)),
      tiers_(placed.pools.size()), spread_(placed.pools.size()), pageBytes_(placed.pools.size()) {
  for (uint32_t part = 0; part < grid.count(); ++part)
    if (!own || own->part == part)
      here_.push_back(part);
  for (const PlacedPool &pool : placed.pools)
    reports_.push_back({pool.local->name, pool.over ? placed.levels[*pool.over].name : ""});
}

Pools::~Pools() {
  for (const PoolReport &report : reports_)
    options_.report(report);
}

size_t Pools::bytesOfPage(const PlacedChoice &choice, uint32_t part) const {
  if (!grid_.holds(pageOf(choice).placement, part))
    return 0;
  return static_cast<size_t>(movement::elementCount(boxAt_(choice.page->kept, part))) *
         static_cast<size_t>(elemInfo(pageOf(choice).elem).storageBytes);
}

pool::PoolShape Pools::shapeFor(size_t pool, uint64_t room) const {
  pool::PoolShape shape;
  shape.pageBytes = pageBytes_[pool];
  shape.slots = static_cast<uint32_t>(std::min<uint64_t>(room / shape.pageBytes, UINT32_MAX));
  return shape;
}

bool Pools::hasDisk(size_t pool) const {
  return placed_.pools[pool].disk >= pageBytes_[pool] && !options_.folder.empty();
}

/// Pages are as long as the longest block of them.
void Pools::open(size_t number, const PlacedChoice &choice) {
  const PlacedPool &made = placed_.pools[number];
  size_t bytes = 1;
  for (uint32_t part = 0; part < grid_.count(); ++part)
    bytes = std::max(bytes, bytesOfPage(choice, part));
  if (bytes > UINT32_MAX)
    return stop_("a page has more than 4 GiB", choice.page->keep->span);
  pageBytes_[number] = static_cast<uint32_t>(bytes);
  std::unique_ptr<pool::MemoryPages> memory;
  std::unique_ptr<pool::PagePool> disk;
  pool::PoolShape inMemory = shapeFor(number, made.memory);
  if (inMemory.slots > 0 && made.over)
    spread_[number] = std::make_unique<pool::SpreadPages>(grid_.count(*made.over), inMemory.slots);
  else if (inMemory.slots > 0)
    memory = std::make_unique<pool::MemoryPages>(inMemory);
  if (hasDisk(number)) {
    std::string why;
    // A run on another number of parts has pages of another size, and so another folder.
    std::string folder =
        options_.folder + "/" + made.local->name + "/" + std::to_string(bytes) + "-bytes";
    disk = pool::PagePool::open(folder, shapeFor(number, made.disk), why);
    if (!disk)
      return stop_(why, choice.page->keep->span);
  }
  tiers_[number] = std::make_unique<pool::PageTiers>(std::move(memory), std::move(disk));
}

// ---- What all parts agree on -------------------------------------------------------------------

/// Combines the keys of all parts into one key that every part gets. In a process of its own a part
/// gives one key, else `mine` holds those of all parts.
Key Pools::over(std::vector<Key> mine) {
  if (own_ && own_->part > 0) {
    Key all = mine.front();
    std::span bytes(reinterpret_cast<uint8_t *>(&all), sizeof all);
    own_->port.send(0, bytes);
    if (!own_->port.receive(0, bytes))
      stop_(grid_.name(own_->part) + " waits for " + grid_.name(0) + ", which sends nothing",
            kNoSpan);
    return all;
  }
  // The first part combines the keys in the order of the parts, so that all get the same key.
  for (uint32_t part = 1; own_ && part < grid_.count(); ++part) {
    Key &next = mine.emplace_back();
    if (!own_->port.receive(part, {reinterpret_cast<uint8_t *>(&next), sizeof next}))
      stop_(grid_.name(0) + " waits for " + grid_.name(part) + ", which sends nothing", kNoSpan);
  }
  KeyMaker maker;
  for (Key key : mine)
    maker.add(key);
  Key all = maker.key();
  for (uint32_t part = 1; own_ && part < grid_.count(); ++part)
    own_->port.send(part, {reinterpret_cast<uint8_t *>(&all), sizeof all});
  return all;
}

/// Whether something holds on all parts: their combined key equals the one that they would give if
/// it held on each of them.
bool Pools::onAll(bool mine) {
  if (!own_)
    return mine;
  KeyMaker agreed;
  for (uint32_t part = 0; part < grid_.count(); ++part)
    agreed.add(Key{1, 1});
  return over({mine ? Key{1, 1} : Key{2, 2}}) == agreed.key();
}

// ---- Keys --------------------------------------------------------------------------------------

/// The key of what all pages of a choice depend on: program, levels and the arguments, block by
/// block.
Key Pools::sourceOf(const PlacedChoice &choice) {
  std::vector<Key> keys;
  for (uint32_t part : here_) {
    KeyMaker maker;
    for (ValueId id : choice.page->source.arguments) {
      bool holds = grid_.holds(placed_.values[id].placement, part);
      maker.add(holds ? pool::hashOf(bytesOf(valueAt_(id, part))) : pool::kNoKey);
    }
    // Every part knows only its own blocks, so the keys of all of them are combined below.
    keys.push_back(maker.key());
  }
  KeyMaker maker;
  maker.add(std::string_view(program_));
  maker.add(std::string_view(placed_.decl->name));
  maker.add(uint64_t(choice.page->kept));
  for (size_t level = 0; level < placed_.levels.size(); ++level) {
    maker.add(std::string_view(placed_.levels[level].name));
    maker.add(uint64_t(grid_.count(level)));
  }
  maker.add(over(std::move(keys)));
  return maker.key();
}

/// Extends the chain of page keys up to the page that the loop has reached.
void Pools::extend(const PlacedChoice &choice, Chain &chain) {
  auto position = static_cast<size_t>(sizes_.at(choice.page->counter));
  if (!chain.source)
    chain.source = sourceOf(choice);
  std::vector<uint8_t> rows = bytesOf(valueAt_(choice.page->rows, here_.front()));
  auto count = static_cast<size_t>(boxAt_(choice.page->rows, here_.front())[0].length());
  if (position >= count)
    return stop_("`find` has " + std::to_string(count) + " rows, and none for page " +
                     std::to_string(position),
                 choice.page->keep->span);
  size_t bytes = rows.size() / count;
  std::vector<int64_t> numbers;
  for (SymbolId number : choice.page->source.numbers)
    numbers.push_back(sizes_.at(number));
  // In another round of an outer loop the rows may differ; keys are kept as far as they are equal.
  size_t same = std::min(chain.keys.size(), position) * bytes;
  bool goesOn =
      chain.numbers == numbers && chain.rows.size() >= same &&
      std::equal(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(same), chain.rows.begin());
  chain.keys.resize(goesOn ? std::min(chain.keys.size(), position) : 0);
  while (chain.keys.size() <= position) {
    // A page's key contains the key of the page before it: a page is found only after the same
    // prefix.
    KeyMaker maker;
    maker.add(chain.keys.empty() ? *chain.source : chain.keys.back());
    for (int64_t number : numbers)
      maker.add(static_cast<uint64_t>(number));
    maker.add(std::span(rows).subspan(chain.keys.size() * bytes, bytes));
    chain.keys.push_back(maker.key());
  }
  chain.numbers = std::move(numbers);
  chain.rows = std::move(rows);
}

/// The key of a part's block of a page. Parts that hold the same box share the block.
Key Pools::keyOn(Key key, const PlacedChoice &choice, uint32_t part) const {
  KeyMaker maker;
  maker.add(key);
  for (const movement::Interval &axis : boxAt_(choice.page->kept, part)) {
    maker.add(static_cast<uint64_t>(axis.begin));
    maker.add(static_cast<uint64_t>(axis.end));
  }
  return maker.key();
}

Key Pools::parentOf(const Chain &chain) const {
  return chain.keys.size() > 1 ? chain.keys[chain.keys.size() - 2] : pool::kNoKey;
}
Key Pools::keyAbove(const PlacedChoice &choice, const Chain &chain, uint32_t part) const {
  return chain.keys.size() > 1 ? keyOn(parentOf(chain), choice, part) : pool::kNoKey;
}

// ---- Pages -------------------------------------------------------------------------------------

bool Pools::find(const PlacedChoice &choice) {
  size_t number = choice.page->pool;
  if (!tiers_[number])
    open(number, choice);
  Chain &chain = chainOf(choice);
  extend(choice, chain);
  chain.found.clear();
  // All parts know what lies in the memory that they have together.
  pool::SpreadPages *spread = spread_[number].get();
  chain.lies = spread ? spread->use(chain.keys.back()) : std::nullopt;
  if (chain.lies) {
    for (uint32_t part : here_)
      if (bytesOfPage(choice, part) > 0)
        tiers_[number]->use(keyOn(chain.keys.back(), choice, part));
    ++reports_[number].found;
    ++reports_[number].inMemory;
    return true;
  }
  bool haveAll = !spread || hasDisk(number);
  bool areAsked = haveAll;
  for (uint32_t part : here_) {
    if (bytesOfPage(choice, part) == 0 || !areAsked)
      continue;
    std::vector<uint8_t> &page = chain.found[part];
    page.resize(pageBytes_[number]);
    haveAll &= tiers_[number]->get(keyOn(chain.keys.back(), choice, part),
                                   keyAbove(choice, chain, part), page);
  }
  bool isFound = areAsked && onAll(haveAll);
  ++(isFound ? reports_[number].found : reports_[number].computed);
  return isFound;
}

uint32_t Pools::home(const PlacedChoice &choice) {
  size_t number = choice.page->pool;
  Chain &chain = chainOf(choice);
  if (!chain.lies && spread_[number])
    chain.lies = spread_[number]->reserve(chain.keys.back(), parentOf(chain));
  return chain.lies.value_or(pageOf(choice).placement[*placed_.pools[number].over].part);
}

Value Pools::page(const PlacedChoice &choice, uint32_t part) const {
  const Chain &chain = chains_.at(&choice);
  auto found = chain.found.find(part);
  static const uint8_t nothing = 0;
  if (chain.lies) {
    std::span<const uint8_t> bytes = spread_[choice.page->pool]->read(chain.keys.back(), part);
    return valueOfBytes(pageOf(choice).elem, shapeOfBox(boxAt_(choice.page->kept, part)),
                        bytes.empty() ? &nothing : bytes.data());
  }
  return valueOfBytes(pageOf(choice).elem, shapeOfBox(boxAt_(choice.page->kept, part)),
                      found == chain.found.end() ? &nothing : found->second.data());
}

void Pools::keep(const PlacedChoice &choice) {
  size_t number = choice.page->pool;
  const Chain &chain = chainOf(choice);
  for (uint32_t part : here_) {
    if (bytesOfPage(choice, part) == 0)
      continue;
    // Pages have one size; the block of this part may be shorter.
    std::vector<uint8_t> page = bytesOf(valueAt_(choice.page->kept, part));
    page.resize(pageBytes_[number]);
    tiers_[number]->put(keyOn(chain.keys.back(), choice, part), keyAbove(choice, chain, part),
                        page);
  }
  keepInMemory(choice);
}

void Pools::keepInMemory(const PlacedChoice &choice) {
  size_t number = choice.page->pool;
  if (!spread_[number])
    return;
  uint32_t home = this->home(choice);
  const Chain &chain = chainOf(choice);
  size_t level = *placed_.pools[number].over;
  Placement placement = pageOf(choice).placement;
  placement[level] = onPart(home);
  ValueId from = choice.page->stored.value_or(choice.page->kept);
  for (uint32_t part : here_)
    if (chain.lies && grid_.holds(placement, part))
      spread_[number]->write(chain.keys.back(), part, bytesOf(valueAt_(from, part)));
}

void Pools::took(const PlacedChoice &choice) {
  Chain &chain = chainOf(choice);
  for (uint32_t part : here_)
    if (chain.lies && grid_.holds(pageOf(choice).placement, part))
      chain.found[part] = bytesOf(valueAt_(*choice.page->fetched, part));
}

std::string Pools::difference(const PlacedChoice &choice) const {
  for (uint32_t part : here_) {
    auto found = chains_.at(&choice).found.find(part);
    if (found == chains_.at(&choice).found.end())
      continue;
    std::vector<uint8_t> made = bytesOf(valueAt_(choice.page->kept, part));
    if (!std::ranges::equal(made, std::span(found->second).first(made.size())))
      return "page " + std::to_string(chains_.at(&choice).keys.size() - 1) + " of the pool `" +
             placed_.pools[choice.page->pool].local->name + "` is not what " + grid_.name(part) +
             " computes";
  }
  return {};
}

} // namespace ptl::parts
