// Pending and materialised values: when each is computed, and how one element is.
#include "codegen/cpu/lowering.h"
#include "codegen/cpu/program_storage.h"
#include "ir/dialect/host_views.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::cpu {

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (value && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

static ir::ArrayType arrayType(Value value) { return dyn_cast<ir::ArrayType>(value.getType()); }

// --- extents -------------------------------------------------------------------------------------

Values Lowering::extentsOf(Value array) {
  if (auto found = extents_.find(array); found != extents_.end())
    return found->second;
  if (auto found = views_.find(array); found != views_.end())
    return found->second.extents;
  return {};
}

// Numbers of the type, else the given lengths in order.
static Values namedExtents(Lowering &l, ArrayRef<ir::Extent> extents, ValueRange lengths) {
  Values result;
  size_t next = 0;
  for (const ir::Extent &extent : extents) {
    if (extent.isConstant())
      result.push_back(l.index(extent.length));
    else
      result.push_back(next < lengths.size() ? l.scalarOf(lengths[next++]) : l.index(0));
  }
  return result;
}

static Values elementwiseExtents(Lowering &l, Operation *op, ir::ArrayType type) {
  Values result(type.getRank());
  for (Value operand : op->getOperands()) {
    auto array = arrayType(operand);
    if (!array)
      continue;
    Values extents = l.extentsOf(operand);
    int64_t shift = type.getRank() - array.getRank();
    for (int64_t axis = 0; axis < array.getRank(); ++axis)
      if (!result[axis + shift] || !array.getExtents()[axis].isOne())
        result[axis + shift] = extents[axis];
  }
  return result;
}

static Values einsumExtents(Lowering &l, ir::EinsumOp op) {
  auto [inputs, output] = op.getSpec().split("->");
  SmallVector<StringRef> specs;
  inputs.split(specs, ',');
  Values result;
  for (char letter : output.trim())
    for (auto [spec, operand] : llvm::zip(specs, op.getXs()))
      if (size_t at = spec.trim().find(letter); at != StringRef::npos) {
        result.push_back(l.extentsOf(operand)[at]);
        break;
      }
  return result;
}

static Values productExtents(Lowering &l, ir::MatmulOp op) {
  Values a = l.extentsOf(op.getA()), b = l.extentsOf(op.getB());
  size_t batchA = a.size() > 2 ? a.size() - 2 : 0, batchB = b.size() > 2 ? b.size() - 2 : 0;
  Values result;
  const Values &longer = batchA >= batchB ? a : b;
  for (size_t axis = 0; axis < std::max(batchA, batchB); ++axis)
    result.push_back(longer[axis]);
  if (a.size() >= 2)
    result.push_back(a[a.size() - 2]);
  if (b.size() >= 2)
    result.push_back(b.back());
  return result;
}

static Values boxExtents(Lowering &l, ValueRange lengths, ArrayRef<int64_t> dropped) {
  Values result;
  for (auto [axis, length] : llvm::enumerate(lengths))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
      result.push_back(l.scalarOf(length));
  return result;
}

static Values shapeExtents(Lowering &l, Operation *op, unsigned number, ir::ArrayType type) {
  const Emit &e = l.e;
  Values source = op->getNumOperands() ? l.extentsOf(op->getOperand(0)) : Values();
  if (auto concat = dyn_cast<ir::ConcatOp>(op)) {
    for (Value part : concat.getXs().drop_front())
      source[concat.getAxis()] =
          e.add(source[concat.getAxis()], l.lengthOf(part, concat.getAxis()));
  } else if (auto pad = dyn_cast<ir::PadOp>(op)) {
    for (auto list : {pad.getBefore(), pad.getAfter()})
      for (auto [axis, margin] : llvm::enumerate(list))
        source[axis] = e.add(source[axis], l.scalarOf(margin));
  } else if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    Values result;
    for (int64_t axis : transpose.getAxes())
      result.push_back(source[axis]);
    return result;
  } else if (isa<ir::InterleaveOp>(op)) {
    source.back() = e.mul(source.back(), e.index(2));
  } else if (isa<ir::DeinterleaveOp>(op)) {
    source.back() = e.b.createOrFold<arith::DivUIOp>(e.loc, source.back(), e.index(2));
  } else if (auto take = dyn_cast<ir::TakeOp>(op)) {
    source[take.getAxis()] = l.lengthOf(take->getOperand(1), 0);
  } else if (auto newAxis = dyn_cast<ir::NewAxisOp>(op)) {
    for (int64_t axis : newAxis.getAxes())
      source.insert(source.begin() + axis, e.index(1));
  } else if (auto oneHot = dyn_cast<ir::OneHotOp>(op)) {
    source.push_back(namedExtents(l, type.getExtents().take_back(), oneHot.getLengths())[0]);
  } else if (auto topk = dyn_cast<ir::TopkOp>(op)) {
    source.back() = namedExtents(l, type.getExtents().take_back(), topk.getLengths())[0];
  } else if (isa<ir::GatherOp>(op)) {
    return l.extentsOf(op->getOperand(1));
  } else if (auto insert = dyn_cast<ir::InsertOp>(op)) {
    return l.extentsOf(insert.getDest());
  }
  return source;
}

void Lowering::defineExtents(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto type = arrayType(result);
    if (!type)
      continue;
    Values extents;
    if (isElementwise(op))
      extents = elementwiseExtents(*this, op, type);
    else if (auto load = dyn_cast<ir::LoadOp>(op))
      extents = boxExtents(*this, load.getLengths(), load.getDropped());
    else if (auto slice = dyn_cast<ir::SliceOp>(op))
      extents = boxExtents(*this, slice.getLengths(), slice.getDropped());
    else if (auto product = dyn_cast<ir::MatmulOp>(op))
      extents = productExtents(*this, product);
    else if (auto einsum = dyn_cast<ir::EinsumOp>(op))
      extents = einsumExtents(*this, einsum);
    else if (isa<ir::ZerosOp, ir::OnesOp, ir::FullOp, ir::IndexOp, ir::ReshapeOp, ir::BroadcastOp,
                 ir::RandomOp>(op)) {
      ValueRange lengths = TypeSwitch<Operation *, ValueRange>(op)
                               .Case<ir::ZerosOp, ir::OnesOp, ir::FullOp, ir::IndexOp,
                                     ir::ReshapeOp, ir::BroadcastOp, ir::RandomOp>(
                                   [](auto o) { return ValueRange(o.getLengths()); })
                               .Default([](Operation *) { return ValueRange(); });
      extents = namedExtents(*this, type.getExtents(), lengths);
    } else
      extents = shapeExtents(*this, op, result.getResultNumber(), type);
    extents.resize(type.getRank(), index(1));
    for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
      if (extent.isConstant())
        extents[axis] = index(extent.length);
    extents_[result] = extents;
  }
}

// --- when values are computed --------------------------------------------------------------------

int64_t Lowering::cost(Value value) {
  if (isScalar(value))
    return 0;
  if (views_.count(value))
    return 1;
  auto found = costs_.find(value);
  return found == costs_.end() ? 1 : found->second;
}

// Whether storage that a load reads may change before the last use of what was loaded.
static bool isOverwritten(ir::LoadOp load) {
  Value storage = ir::storageUnder(load.getRef());
  return llvm::any_of(ir::usesOfElements(storage), [&](Operation *user) {
    auto store = dyn_cast<ir::StoreOp>(user);
    if (!store || ir::storageUnder(store.getRef()) != storage)
      return false;
    Operation *inBlock = load->getBlock()->findAncestorOpInBlock(*store);
    return inBlock && load->isBeforeInBlock(inBlock);
  });
}

static bool isUsedInside(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [&](Operation *user) { return user->getBlock() != op->getBlock(); });
}

bool Lowering::mustEvaluateNow(Operation *op) {
  if (auto load = dyn_cast<ir::LoadOp>(op); load && isOverwritten(load))
    return true;
  return isUsedInside(op) && cost(op->getResult(0)) >= 4;
}

void Lowering::define(Operation *op) {
  defineExtents(op);
  int64_t total = costOfOp(op);
  for (Value operand : op->getOperands())
    total += cost(operand);
  for (Value result : op->getResults())
    costs_[result] = std::min<int64_t>(total, 1000);
  if (op->use_empty())
    return;
  bool now = mustEvaluateNow(op);
  if (op->getNumResults() == 1)
    if (auto view = viewOfOp(op)) {
      bindView(op->getResult(0), *view);
      if (now)
        materialise(op->getResult(0));
      return;
    }
  if (hasProducer(op) && (now || isUsedInside(op) || op->getNumResults() > 1))
    now = true;
  for (Value result : op->getResults()) {
    if (now && !views_.count(result))
      materialise(result);
    else if (!now && isUsedInside(op))
      prepare(result);
  }
}

std::optional<View> Lowering::viewOf(Value array) {
  if (auto found = views_.find(array); found != views_.end())
    return found->second;
  Operation *op = array.getDefiningOp();
  return op && op->getNumResults() == 1 ? viewOfOp(op) : std::nullopt;
}

View Lowering::requireView(Value array) {
  if (auto view = viewOf(array))
    return *view;
  return materialise(array);
}

View Lowering::denseView(Type element, Value data, const Values &extents) {
  View view{element, data, extents, Values(extents.size())};
  Value stride = index(1);
  for (int64_t axis = view.rank() - 1; axis >= 0; --axis) {
    view.strides[axis] = stride;
    stride = e.mul(stride, extents[axis]);
  }
  return view;
}

static Value byteCount(Lowering &l, Type element, const Values &extents) {
  Value bytes = l.index(storageBytes(element));
  for (Value extent : extents)
    bytes = l.e.mul(bytes, extent);
  return bytes;
}

void Lowering::leaveUnless(Value condition) {
  Block *current = e.b.getInsertionBlock();
  Block *next = e.b.createBlock(current->getParent(), std::next(Region::iterator(current)));
  e.b.setInsertionPointToEnd(current);
  e.b.create<cf::CondBranchOp>(e.loc, condition, next, exitBlock());
  e.b.setInsertionPointToEnd(next);
}

static Value isNotNull(const Emit &e, Value pointer) {
  Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointer.getType());
  return e.b.create<LLVM::ICmpOp>(e.loc, LLVM::ICmpPredicate::ne, pointer, null);
}

View Lowering::allocate(Type element, const Values &extents) {
  // Tasks may still use what a program is done with, but not what a loop of its own code makes.
  if (isOrchestrating() && scopeDepth_ == allocationDepth_)
    return allocateShared(element, extents);
  Value data = emitScratch(e, context, byteCount(*this, element, extents));
  usedScratch_ = true;
  leaveUnless(isNotNull(e, data));
  return denseView(element, data, extents);
}

View Lowering::allocateShared(Type element, const Values &extents) {
  Value bytes = e.indexCast(byteCount(*this, element, extents), e.b.getI64Type());
  Value data = e.call("ptl_rt_alloc", pointerType(e.b.getContext()), {context, bytes});
  leaveUnless(isNotNull(e, data));
  if (isOrchestrating())
    own(data);
  return denseView(element, data, extents);
}

View Lowering::materialise(Value array) {
  Operation *op = array.getDefiningOp();
  auto allocateFor = [&](Value value) {
    return allocate(cast<ir::ArrayType>(value.getType()).getElementType(), extentsOf(value));
  };
  // A producer of several results makes them together; all else goes one by one.
  if (hasProducer(op) && op->getNumResults() > 1 && !views_.count(array)) {
    SmallVector<View> dests;
    for (Value result : op->getResults())
      dests.push_back(allocateFor(result));
    asTask(op, [&] { produce(op, dests); });
    for (auto [result, dest] : llvm::zip(op->getResults(), dests))
      bindView(result, dest);
    return views_.find(array)->second;
  }
  View dest = allocateFor(array);
  asTask(op, [&] { evaluateInto(array, dest); });
  bindView(array, dest);
  return dest;
}

void Lowering::prepare(Value array, bool repeated) {
  if (isScalar(array) || viewOf(array))
    return;
  if (auto cast = array.getDefiningOp<ir::CastOp>())
    return prepare(cast.getSource(), repeated || !array.hasOneUse());
  Operation *op = array.getDefiningOp();
  if (!op)
    return;
  Value base;
  Operation *product = nullptr;
  bool shared = repeated || !array.hasOneUse();
  if (hasProducer(op) || isProductInto(op, base, product) || (shared && cost(array) >= 4)) {
    materialise(array);
    return;
  }
  prepareOperands(op);
}

void Lowering::prepareOperands(Operation *op) {
  bool randomAccess = isa<ir::ReshapeOp, ir::GatherOp, ir::TakeOp>(op);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    randomAccess = static_cast<bool>(slice.getOutside());
  auto type = op->getNumResults() ? arrayType(op->getResult(0)) : ir::ArrayType();
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto array = arrayType(operand);
    if (!array)
      continue;
    if (randomAccess && number == 0) {
      requireView(operand);
      continue;
    }
    bool repeated = type && isElementwise(op) && array.getRank() < type.getRank();
    if (type && isElementwise(op) && array.getRank() == type.getRank())
      for (auto [from, to] : llvm::zip(array.getExtents(), type.getExtents()))
        repeated |= from.isOne() && !to.isOne();
    prepare(operand, repeated);
  }
}

void Lowering::evaluateInto(Value array, const View &dest) {
  if (auto view = viewOf(array)) {
    forAll(dest.extents, 1, {}, [&](Coords &at) { storeAt(dest, at, loadAt(*view, at)); });
    return;
  }
  if (auto cast = array.getDefiningOp<ir::CastOp>())
    return evaluateInto(cast.getSource(), dest);
  Operation *op = array.getDefiningOp();
  Value base;
  Operation *product = nullptr;
  if (isProductInto(op, base, product) && !viewOf(product->getResult(0))) {
    prepare(base);
    forAll(dest.extents, cost(base), base,
           [&](Coords &at) { storeAt(dest, at, elementAt(base, broadcastCoords(base, at))); });
    produceProduct(product, dest, true);
    return;
  }
  if (hasProducer(op)) {
    if (op->getNumResults() == 1)
      return produce(op, dest);
    materialise(array);
    return evaluateInto(array, dest);
  }
  prepareOperands(op);
  forAll(dest.extents, cost(array), array,
         [&](Coords &at) { storeAt(dest, at, elementAt(array, at)); });
}

// --- elements ------------------------------------------------------------------------------------

Value Lowering::scalarOf(Value value) {
  auto found = scalars_.find(value);
  if (found != scalars_.end()) {
    // Constants are made anew where they are used: other functions cannot see them.
    if (auto *op = found->second.getDefiningOp(); op && op->hasTrait<OpTrait::ConstantLike>())
      return e.b.clone(*op)->getResult(0);
    return found->second;
  }
  fail(value.getDefiningOp(), "this value is not available to the CPU target");
  return e.zero(registerType(value.getType()));
}

Lowering::ElementKey Lowering::keyOf(Value value, const Coords &at, Value mask) {
  ElementKey key{value.getAsOpaquePointer(), {}};
  for (const Coord &coord : at) {
    auto *base = coord.base.getAsOpaquePointer();
    if (auto number = constantOf(coord.base))
      base = reinterpret_cast<void *>(static_cast<intptr_t>(*number * 2 + 1));
    key.second.append({base, coord.vector.getAsOpaquePointer(),
                       reinterpret_cast<void *>(static_cast<intptr_t>(coord.step))});
  }
  key.second.push_back(mask.getAsOpaquePointer());
  return key;
}

static bool allUniform(const Coords &at) {
  return llvm::all_of(at, [](const Coord &c) { return c.isUniform(); });
}

Value Lowering::elementAt(Value value, const Coords &at) {
  if (isScalar(value))
    return hoisting_ ? Value() : scalarOf(value);
  bool uniform = allUniform(at);
  if (hoisting_ && !uniform) {
    if (Operation *op = value.getDefiningOp(); op && !views_.count(value))
      elementOfOp(op, cast<OpResult>(value).getResultNumber(), at);
    return {};
  }
  ElementKey key = keyOf(value, at, uniform ? Value() : mask_);
  if (auto found = elements_.find(key); found != elements_.end())
    return found->second;
  bool wasHoisting = std::exchange(hoisting_, false);
  Value result;
  if (auto view = viewOf(value))
    result = loadAt(*view, at);
  else
    result = elementOfOp(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), at);
  hoisting_ = wasHoisting;
  elements_[key] = result;
  remember([this, key] { elements_.erase(key); });
  return result;
}

void Lowering::hoist(Value value, const Coords &at) {
  hoisting_ = true;
  elementAt(value, at);
  hoisting_ = false;
}

Coords Lowering::broadcastCoords(Value operand, const Coords &at) {
  auto type = arrayType(operand);
  if (!type)
    return {};
  Coords result(at.end() - type.getRank(), at.end());
  for (auto [coord, extent] : llvm::zip(result, type.getExtents()))
    if (extent.isOne())
      coord = Coord{index(0)};
  return result;
}

Value Lowering::elementOfOp(Operation *op, unsigned result, const Coords &at) {
  llvm::SaveAndRestore place(e.loc, op->getLoc());
  if (isElementwise(op)) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(elementAt(operand, broadcastCoords(operand, at)));
    return hoisting_ ? Value() : combine(op, operands);
  }
  if (auto source = sourceOf(op, result, at))
    return elementAt(source->first, source->second);
  if (hoisting_)
    return {};
  bool handled = true;
  Value value = shapeElement(op, result, at, handled);
  if (handled)
    return value;
  if ((value = gatherElement(op, at)) || (value = randomElement(op, at)))
    return value;
  fail(op, "this operation has no lowering to the CPU here");
  return e.zero(
      registerType(cast<ir::ArrayType>(op->getResult(result).getType()).getElementType()));
}

void Lowering::produce(Operation *op, ArrayRef<View> dests) {
  llvm::SaveAndRestore place(e.loc, op->getLoc());
  if (produceReduction(op, dests[0]) || produceScan(op, dests[0]) ||
      produceProduct(op, dests[0], false) || produceSort(op, dests) ||
      produceScatter(op, dests[0]) || produceShape(op, dests))
    return;
  fail(op, "this operation has no lowering to the CPU");
}

void Lowering::unwind(size_t size) {
  while (undo_.size() > size) {
    undo_.back()();
    undo_.pop_back();
  }
}

void Lowering::bindScalar(Value key, Value value) { scalars_[key] = value; }

void Lowering::bindView(Value key, const View &view) {
  if (isOrchestrating())
    tellBytes(view.data, key.getType());
  if (ownViews_ && !views_.count(key))
    ownViews_->push_back({key, extents_.lookup(key)});
  // What is computed within a loop or an arm is not there behind it, whoever asks next.
  if (scopeDepth_ > 0 && !views_.count(key))
    remember([this, key, known = extents_.count(key) > 0, extents = extents_.lookup(key)] {
      views_.erase(key);
      if (known)
        extents_[key] = extents;
      else
        extents_.erase(key);
    });
  views_[key] = view;
  extents_[key] = view.extents;
  if (isa<ir::RefType>(key.getType()))
    refs_[view.data] = key;
}

} // namespace ptl::cpu
