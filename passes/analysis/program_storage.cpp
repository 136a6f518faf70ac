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

using namespace mlir;

namespace ptl::ir {
namespace {

/// Numbers of arrays, ascending.
using LiveSet = std::vector<unsigned>;

class StorageScan {
public:
  /// The sets of arrays of a block that are live at once; of sets of which one holds another only
  /// the larger.
  std::vector<LiveSet> of(mlir::Block &block);

  std::string bytesOf(const LiveSet &arrays) const;
  LiveSet all() const;
  bool inLoops = false;

private:
  static bool isStorage(Operation &op);
  static std::pair<Operation *, Operation *> usesOf(Value array, mlir::Block &block);
  static void keep(std::vector<LiveSet> &sets, LiveSet set);

  std::vector<Value> arrays_;
};

bool StorageScan::isStorage(Operation &op) {
  bool copies = isa<ir::LoadOp, ir::SliceOp>(op) && isa<ir::ArrayType>(op.getResult(0).getType()) &&
                !isOnlyName(&op);
  return isa<ir::AllocOp>(op) || copies;
}

/// The first and the last operation of the block that uses an array, also under other descriptions.
std::pair<Operation *, Operation *> StorageScan::usesOf(Value array, mlir::Block &block) {
  Operation *made = array.getDefiningOp();
  Operation *first = isa<ir::AllocOp>(made) ? nullptr : made, *last = made;
  llvm::SetVector<Value> names;
  names.insert(array);
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      if (isa<ir::DimOp>(user))
        continue;
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!here)
        return {first ? first : made, block.getTerminator()};
      if (!first || here->isBeforeInBlock(first))
        first = here;
      if (last->isBeforeInBlock(here))
        last = here;
      if (isa<ir::CastOp, ir::ReshapeOp, ir::NewAxisOp>(user) ||
          (isa<ir::LoadOp, ir::SliceOp>(user) && isOnlyName(user)))
        names.insert(user->getResult(0));
    }
  return {first ? first : made, last};
}

void StorageScan::keep(std::vector<LiveSet> &sets, LiveSet set) {
  auto within = [](const LiveSet &inner, const LiveSet &outer) {
    return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
  };
  if (llvm::any_of(sets, [&](const LiveSet &other) { return within(set, other); }))
    return;
  llvm::erase_if(sets, [&](const LiveSet &other) { return within(other, set); });
  sets.push_back(std::move(set));
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
    keep(sets, live);
    for (Region &region : isa<ir::ParallelOp>(op) ? MutableArrayRef<Region>() : op.getRegions())
      for (mlir::Block &inner : region)
        for (const LiveSet &more : of(inner)) {
          LiveSet both;
          std::set_union(live.begin(), live.end(), more.begin(), more.end(),
                         std::back_inserter(both));
          keep(sets, std::move(both));
        }
    for (unsigned number : end.lookup(&op))
      llvm::erase(live, number);
  }
  return sets;
}

LiveSet StorageScan::all() const {
  LiveSet set(arrays_.size());
  for (unsigned i = 0; i < set.size(); ++i)
    set[i] = i;
  return set;
}

/// A sum of products: those with the same lengths together.
std::string StorageScan::bytesOf(const LiveSet &arrays) const {
  std::map<std::vector<std::string>, int64_t> terms;
  for (unsigned number : arrays) {
    mlir::Type type = arrays_[number].getType();
    int64_t factor = pto::elementBytes(ir::elementTypeOf(type));
    std::vector<std::string> lengths;
    for (const Extent &extent : ir::extentsOf(type)) {
      if (extent.isConstant()) {
        factor *= extent.length;
        continue;
      }
      std::string name = extent.symbol.str();
      bool isName = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
      lengths.push_back(isName ? name : "(" + name + ")");
    }
    std::sort(lengths.begin(), lengths.end());
    terms[lengths] += factor;
  }
  std::string text;
  for (const auto &[lengths, factor] : terms) {
    text += (text.empty() ? "" : " + ") + std::to_string(factor);
    for (const std::string &length : lengths)
      text += "*" + length;
  }
  return text;
}

} // namespace

ProgramStorage storageOf(Operation *host) {
  StorageScan scan;
  std::vector<LiveSet> sets;
  for (Region &region : host->getRegions())
    for (mlir::Block &block : region)
      for (LiveSet &set : scan.of(block))
        sets.push_back(std::move(set));
  ProgramStorage result;
  LiveSet all = scan.all();
  result.arrays = static_cast<int64_t>(all.size());
  if (all.empty())
    return result;
  llvm::SetVector<llvm::StringRef> different;
  std::vector<std::string> texts;
  for (const LiveSet &set : sets)
    if (!set.empty())
      texts.push_back(scan.bytesOf(set));
  for (const std::string &text : texts)
    different.insert(text);
  result.inOrder = llvm::join(different, ", ");
  if (different.size() > 1)
    result.inOrder = "max(" + result.inOrder + ")";
  if (!scan.inLoops)
    result.most = scan.bytesOf(all);
  return result;
}

} // namespace ptl::ir
