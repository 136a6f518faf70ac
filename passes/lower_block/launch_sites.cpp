#include "passes/lower_block/launch_sites.h"

#include "ir/dialect/ptl_dialect.h"

using namespace mlir;

namespace ptl::block {

HostOperations::HostOperations(func::FuncOp host) {
  host.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto grid = dyn_cast<ir::ParallelOp>(op)) {
      // Operations of grids move to kernels, so only allocations matter there.
      grid.walk([&](ir::AllocOp) { gridsAllocate_ = true; });
      return WalkResult::skip();
    }
    own_.insert(op);
    return WalkResult::advance();
  });
}

std::vector<LaunchSite> HostOperations::sites(func::FuncOp host) const {
  std::vector<LaunchSite> sites;
  // Allocations decide which lengths are arguments of the kernels around them
  // (`Outliner::isFromDimensions`), so with them kernels are not separate.
  bool isSeparate = !gridsAllocate_;
  size_t brought = 0, added = 0;
  host.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (own_.contains(op))
      return;
    isSeparate &= !isa<ir::AllocOp>(op);
    if (!isa<ir::LaunchOp>(op)) {
      ++added;
      return;
    }
    LaunchSite &site = sites.emplace_back();
    site.launch = op;
    for (Operation *at = op->getPrevNode(); at && !own_.contains(at) && !isa<ir::LaunchOp>(at);
         at = at->getPrevNode())
      // The walk goes backwards, and the list is in the order of the program.
      site.brought.insert(site.brought.begin(), at);
    brought += site.brought.size();
  });
  // An operation that belongs to no single launch would be left behind if one is made again.
  if (!isSeparate || brought != added)
    sites.clear();
  return sites;
}

} // namespace ptl::block
