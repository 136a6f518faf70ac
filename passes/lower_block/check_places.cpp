#include "passes/lower_block/check_places.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/assign_cores.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ptl::block {

using ir::Place;

/// Whether a slice has all of a tile, as that of `tile[new, :]`. What it has of memory is loaded. One
/// with a value for what lies outside may have the lengths of the tile, and begin elsewhere.
static bool isAllOf(ir::SliceOp slice) {
  if (!slice || !slice.getDropped().empty() || !slice.getSteps().empty() || slice.getOutside())
    return false;
  auto of = cast<ir::ArrayType>(slice.getSource().getType());
  return of.getPlace() != Place::Gm && ir::extentsOf(slice.getType()) == of.getExtents();
}

static bool isView(Operation *op) {
  return isa<ir::CastOp, ir::TransposeOp, ir::NewAxisOp>(op) || isAllOf(dyn_cast<ir::SliceOp>(op));
}

/// Collects the operations that read a tile, also through views.
static void collectReaders(Value tile, llvm::SetVector<Operation *> &readers) {
  for (Operation *user : tile.getUsers())
    if (isView(user))
      collectReaders(user->getResult(0), readers);
    else if (!isa<ir::DimOp>(user))
      readers.insert(user);
}

llvm::SmallVector<Place> placesOf(Value tile, const CoreAssignment &cores) {
  Value source = tile;
  while (Operation *op = source.getDefiningOp()) {
    if (!isView(op))
      break;
    // Views are read where their source lies.
    source = op->getOperand(0);
  }
  llvm::SetVector<Operation *> readers;
  collectReaders(source, readers);
  bool multiplied = llvm::any_of(readers, [](Operation *op) { return isa<ir::MatmulOp>(op); });
  bool read = llvm::any_of(
      readers, [&](Operation *op) { return !isa<ir::MatmulOp>(op) && !cores.cube.contains(op); });
  Operation *made = source.getDefiningOp();
  llvm::SmallVector<Place> places;
  if (cores.isAccumulator(source)) {
    places.push_back(Place::Acc);
    // Vector cores see an accumulator only if it is sent to them.
    read = read && llvm::is_contained(cores.toVector, source);
  } else if (!made || !isa<ir::SliceOp, ir::LoadOp>(made)) {
    read = true; // vector instructions make it
  }
  if (read || (places.empty() && !multiplied))
    places.push_back(Place::Vec);
  if (multiplied)
    places.push_back(Place::Mat);
  return places;
}

/// Why a tile lies where it does.
static std::string reasonOf(Place place) {
  std::string at = "`@" + ir::placeName(place).str() + "`";
  switch (place) {
  case Place::Acc:
    return "it is the result of a product, which lies in " + at;
  case Place::Mat:
    return "products read it, so it lies in " + at;
  default:
    return "vector instructions work on it, so it lies in " + at;
  }
}

/// A place that the source or a schedule wants for a tile.
struct WantedPlace {
  Value tile;
  llvm::StringRef place;
  std::string name;
  Location at;
};

/// The value is called what its pinned form is.
static void unpin(ir::CastOp pinned, llvm::MutableArrayRef<WantedPlace> wanted) {
  Operation *made = pinned.getSource().getDefiningOp();
  if (std::string name = nameOf(pinned.getLoc());
      made && !name.empty() && nameOf(made->getLoc()).empty())
    made->setLoc(NameLoc::get(StringAttr::get(made->getContext(), name), made->getLoc()));
  Value source = pinned.getSource();
  auto replace = [&](Operation *op) {
    for (WantedPlace &each : wanted)
      if (each.tile == op->getResult(0))
        each.tile = source;
    op->getResult(0).replaceAllUsesWith(source);
    op->erase();
  };
  replace(pinned);
  // The place kept slices apart that have all of the tile.
  for (Operation *user : llvm::make_early_inc_range(source.getUsers()))
    if (auto slice = dyn_cast<ir::SliceOp>(user); isAllOf(slice))
      replace(slice);
}

bool takePlaces(ir::ParallelOp grid, const Machine &machine, const Report &report) {
  if (attrs::manual.isOn(grid))
    return true;
  llvm::SmallVector<WantedPlace> wanted;
  llvm::SmallVector<ir::CastOp> pins;
  grid->walk([&](Operation *op) {
    // The schedule places a program's values; the type places a kernel's tiles.
    if (auto required = attrs::place.of(op))
      wanted.push_back({op->getResult(0), cast<StringAttr>(required[0]).getValue(),
                        cast<StringAttr>(required[1]).str(), op->getLoc()});
    auto pinned = dyn_cast<ir::CastOp>(op);
    auto type = pinned ? dyn_cast<ir::ArrayType>(pinned.getType()) : ir::ArrayType();
    if (!type || ir::extentsOf(type) != ir::extentsOf(pinned.getSource().getType()))
      return;
    // Casts without a name only move values from place to place where variables are assigned.
    bool isSaid = type.getPlace() != Place::Inferred && type.getPlace() != Place::Gm;
    if (std::string name = nameOf(op->getLoc()); isSaid && !name.empty())
      wanted.push_back({pinned.getResult(), ir::placeName(type.getPlace()), name, op->getLoc()});
    pins.push_back(pinned);
  });
  // Pins are erased behind the walk, which still visits them, and before the cores are assigned: a
  // pin between a sum of products and the variable that carries it would hide the accumulator.
  for (ir::CastOp pin : pins)
    unpin(pin, wanted);
  std::optional<CoreAssignment> cores;
  bool fits = true;
  for (const WantedPlace &each : wanted) {
    // Most grids pin nothing, and assigning cores takes a walk over all operations.
    if (!cores)
      cores = assignCores(grid);
    llvm::SmallVector<Place> places = placesOf(each.tile, *cores);
    if (llvm::any_of(places, [&](Place own) { return ir::placeName(own) == each.place; }))
      continue;
    bool isOperand = each.place == "left" || each.place == "right";
    report(DiagId::PlaceNotTaken, each.at,
           {each.name, each.place.str(), machine.name,
            isOperand ? "operands go there step by step, from `@mat`" : reasonOf(places.front())});
    fits = false;
  }
  return fits;
}

} // namespace ptl::block
