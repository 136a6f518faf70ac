#include "passes/analysis/program_storage.h"

#include "ir/dialect/host_views.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace mlir;

namespace ptl::ir {
namespace {

std::string sumOf(llvm::ArrayRef<ArrayBytes> arrays, const LiveSet &set);

class StorageScan {
public:
  /// The sets of arrays of a block that are live at once; of sets of which one holds another only
  /// the larger.
  std::vector<LiveSet> of(mlir::Block &block);

  std::vector<ArrayBytes> arrays() const;
  bool inLoops = false;
  /// Arrays of one arm of a branch beside as many bytes in the other.
  LiveSet instead;

private:
  void noteInstead(unsigned begin, unsigned middle);
  static bool isStorage(Operation &op);
  static std::pair<Operation *, Operation *> usesOf(Value array, mlir::Block &block);

  std::vector<Value> arrays_;
};

bool StorageScan::isStorage(Operation &op) {
  // A load that only names storage takes no memory.
  bool copies = isa<ir::LoadOp, ir::SliceOp>(op) && isa<ir::ArrayType>(op.getResult(0).getType()) &&
                !isOnlyName(&op);
  return isa<ir::AllocOp>(op) || copies;
}

/// The first and the last operation of the block that uses an array, also under other descriptions.
std::pair<Operation *, Operation *> StorageScan::usesOf(Value array, mlir::Block &block) {
  Operation *made = array.getDefiningOp();
  // Storage is live from its first use on; a copy from where it is made.
  Operation *first = isa<ir::AllocOp>(made) ? nullptr : made, *last = made;
  llvm::SetVector<Value> names;
  names.insert(array);
  // Views are followed: a use of a view is a use of the storage.
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      if (isa<ir::DimOp>(user))
        continue;
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!here)
        // A use outside of the block keeps the array to the block's end.
        return {first ? first : made, block.getTerminator()};
      if (!first || here->isBeforeInBlock(first))
        first = here;
      if (last->isBeforeInBlock(here))
        last = here;
      if (isa<ir::CastOp, ir::ReshapeOp, ir::NewAxisOp, ir::ViewOp>(user) ||
          (isa<ir::LoadOp, ir::SliceOp>(user) && isOnlyName(user)))
        names.insert(user->getResult(0));
    }
  return {first ? first : made, last};
}

std::vector<LiveSet> StorageScan::of(mlir::Block &block) {
  llvm::DenseMap<Operation *, std::vector<unsigned>> begin, end;
  for (Operation &op : block) {
    if (!isStorage(op))
      continue;
    auto number = static_cast<unsigned>(arrays_.size());
    arrays_.push_back(op.getResult(0));
    inLoops |= op.getParentOfType<LoopLikeOpInterface>() != nullptr;
    auto [first, last] = usesOf(op.getResult(0), block);
    begin[first].push_back(number);
    end[last].push_back(number);
  }
  std::vector<LiveSet> sets;
  LiveSet live;
  for (Operation &op : block) {
    for (unsigned number : begin.lookup(&op))
      live.insert(std::upper_bound(live.begin(), live.end(), number), number);
    // The set is noted at its largest, before anything ends here.
    keepLarger(sets, live);
    std::vector<unsigned> begins;
    for (Region &region : op.getRegions()) {
      begins.push_back(static_cast<unsigned>(arrays_.size()));
      for (mlir::Block &inner : region)
        for (const LiveSet &more : of(inner)) {
          // Arrays of inner blocks are live together with those around them.
          LiveSet both;
          std::set_union(live.begin(), live.end(), more.begin(), more.end(),
                         std::back_inserter(both));
          keepLarger(sets, std::move(both));
        }
    }
    if (isa<scf::IfOp>(op))
      noteInstead(begins[0], begins[1]);
    for (unsigned number : end.lookup(&op))
      llvm::erase(live, number);
  }
  return sets;
}

/// Notes the arrays of the second arm of a branch, which begin at `middle`, if those of the first have
/// as many bytes.
void StorageScan::noteInstead(unsigned begin, unsigned middle) {
  auto numbers = [&](unsigned from, size_t to) {
    LiveSet set;
    for (unsigned number = from; number < to; ++number)
      if (!llvm::is_contained(instead, number))
        set.push_back(number);
    return set;
  };
  LiveSet first = numbers(begin, middle), second = numbers(middle, arrays_.size());
  std::vector<ArrayBytes> all = arrays();
  if (!second.empty() && sumOf(all, first) == sumOf(all, second))
    instead.insert(instead.end(), second.begin(), second.end());
}

std::vector<ArrayBytes> StorageScan::arrays() const {
  std::vector<ArrayBytes> bytes;
  for (Value array : arrays_)
    bytes.push_back(bytesOf(array.getType()));
  return bytes;
}

/// A sum of products: those with the same lengths together.
std::string sumOf(llvm::ArrayRef<ArrayBytes> arrays, const LiveSet &set) {
  std::map<std::vector<std::string>, int64_t> terms;
  for (unsigned number : set)
    terms[arrays[number].lengths] += arrays[number].factor;
  std::string text;
  for (const auto &[lengths, factor] : terms) {
    text += (text.empty() ? "" : " + ") + std::to_string(factor);
    for (const std::string &length : lengths)
      text += "*" + length;
  }
  return text;
}

} // namespace

ArrayBytes bytesOf(mlir::Type array) {
  ArrayBytes bytes{pto::elementBytes(ir::elementTypeOf(array)), {}};
  for (const Extent &extent : ir::extentsOf(array)) {
    if (extent.isConstant()) {
      bytes.factor *= extent.length;
      continue;
    }
    // A length that is a formula needs brackets in a product.
    std::string name = extent.symbol.str();
    bool isName = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    bytes.lengths.push_back(isName ? name : "(" + name + ")");
  }
  std::sort(bytes.lengths.begin(), bytes.lengths.end());
  return bytes;
}

void keepLarger(std::vector<LiveSet> &sets, LiveSet set) {
  auto within = [](const LiveSet &inner, const LiveSet &outer) {
    return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
  };
  // Only maximal sets matter for the maximum.
  if (llvm::any_of(sets, [&](const LiveSet &other) { return within(set, other); }))
    return;
  llvm::erase_if(sets, [&](const LiveSet &other) { return within(other, set); });
  sets.push_back(std::move(set));
}

ProgramStorage storageOf(llvm::ArrayRef<ArrayBytes> arrays, llvm::ArrayRef<LiveSet> sets,
                         const LiveSet &instead, bool inLoops) {
  ProgramStorage result;
  result.arrays = static_cast<int64_t>(arrays.size());
  if (arrays.empty())
    return result;
  llvm::SetVector<llvm::StringRef> different;
  std::vector<std::string> texts;
  for (const LiveSet &set : sets)
    if (!set.empty())
      texts.push_back(sumOf(arrays, set));
  for (const std::string &text : texts)
    different.insert(text);
  result.inOrder = llvm::join(different, ", ");
  if (different.size() > 1)
    result.inOrder = "max(" + result.inOrder + ")";
  LiveSet all(arrays.size());
  std::iota(all.begin(), all.end(), 0u);
  llvm::erase_if(all, [&](unsigned number) { return llvm::is_contained(instead, number); });
  // In a loop, storage is made again in each turn, so no sum is an upper bound.
  if (!inLoops)
    result.most = sumOf(arrays, all);
  return result;
}

ProgramStorage storageOf(Operation *host) {
  StorageScan scan;
  std::vector<LiveSet> sets;
  for (Region &region : host->getRegions())
    for (mlir::Block &block : region)
      for (LiveSet &set : scan.of(block))
        sets.push_back(std::move(set));
  return storageOf(scan.arrays(), sets, scan.instead, scan.inLoops);
}

} // namespace ptl::ir
