#include "codegen/cpu/product_functions.h"

#include "codegen/cpu/product_plan.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ptl::cpu {

func::FuncOp rootFunction(const Emit &e, const ProductRoot &root) {
  if (e.bodies)
    e.bodies->root_ = root;
  ProductPlan plan = makeProductPlan(root.a, root.b, root.c, e.unit);
  return root.isSum ? sumFunction(e, plan) : productFunction(e, plan);
}

bool ProductBodies::begin(func::FuncOp function) {
  StringRef name = function.getName();
  if (!llvm::is_contained(way_, name)) {
    declared_.push_back({function, recipeOf(name)});
    return false;
  }
  open_.push_back(name.str());
  return true;
}

void ProductBodies::end() { open_.pop_back(); }

// A recipe is lines: the kind of the root, its types, and the names of the functions through which the last one is reached.
static constexpr StringRef kSum = "sum", kProduct = "product";
static constexpr size_t kLinesOfRoot = 4;

// The function is met where only the bodies that are open now are emitted.
std::string ProductBodies::recipeOf(StringRef name) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  // A root is being defined whenever the function of a product is, so there is one.
  out << (root_->isSum ? kSum : kProduct);
  for (Type type : {root_->a, root_->b, root_->c})
    out << '\n' << type;
  for (const std::string &outer : open_)
    out << '\n' << outer;
  out << '\n' << name;
  return text;
}

DeferredFunctions ProductBodies::finish(ModuleOp module) {
  // The functions that lead to the last one were emitted to find it, and other modules have them.
  for (const std::string &name : ArrayRef(way_).drop_back(way_.empty() ? 0 : 1))
    if (Operation *leading = module.lookupSymbol(name))
      leading->erase();
  llvm::StringSet<> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  DeferredFunctions result;
  for (auto &[function, recipe] : declared_) {
    if (called.contains(function.getName()))
      result.push_back({function.getName().str(), std::move(recipe)});
    else
      function.erase();
  }
  declared_.clear();
  return result;
}

static std::optional<ProductRoot> rootOf(MLIRContext &context, ArrayRef<StringRef> lines) {
  if (lines[0] != kSum && lines[0] != kProduct)
    return std::nullopt;
  Type types[3];
  for (auto [type, line] : llvm::zip(types, lines.drop_front()))
    if (!(type = parseType(line, &context)))
      return std::nullopt;
  return ProductRoot{lines[0] == kSum, types[0], types[1], types[2]};
}

OwningOpRef<ModuleOp> deferredFunction(MLIRContext &context, StringRef recipe,
                                       const VectorUnit &unit, DeferredFunctions &called) {
  SmallVector<StringRef> lines;
  recipe.split(lines, '\n');
  if (lines.size() <= kLinesOfRoot)
    return {};
  std::optional<ProductRoot> root =
      rootOf(context, ArrayRef<StringRef>(lines).take_front(kLinesOfRoot));
  if (!root)
    return {};
  // A recipe is the product that the program calls, and the names of the functions on the way from it to the one that is wanted. Only
  // these are made, and the ones that only lead to the last are erased at the end; whatever else they call stays a declaration with a
  // recipe of its own.
  std::vector<std::string> way;
  for (StringRef name : ArrayRef<StringRef>(lines).drop_front(kLinesOfRoot))
    way.push_back(name.str());
  ProductBodies bodies(way);
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  Emit e(builder, builder.getUnknownLoc(), unit);
  e.bodies = &bodies;
  rootFunction(e, *root);
  called = bodies.finish(*module);
  // A recipe that another version of the compiler has written may name a function that this one does not make.
  auto function = module->lookupSymbol<func::FuncOp>(way.back());
  if (!function || function.isExternal())
    return {};
  function.setPublic();
  function->removeAttr("llvm.linkage");
  return module;
}

} // namespace ptl::cpu
