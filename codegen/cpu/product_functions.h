// Functions of products without bodies, which are made when they are called: of the ways that a product can go, most programs take few.
// Each can be made as a module of its own from a text, in this process or in another one.
#pragma once

#include "codegen/cpu/emit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::cpu {

/// The function that a program calls: of one product, or of a sum of products. The code of each function that it calls in turn depends
/// on these types, on its name and on the vector unit alone.
struct ProductRoot {
  bool isSum;
  mlir::Type a, b; ///< element types of the operands
  mlir::Type c;    ///< storage type of the result
};

/// Declares or defines the function of a root where code is emitted.
mlir::func::FuncOp rootFunction(const Emit &e, const ProductRoot &root);

/// A function that is declared and has no body yet. `recipe` says how it is made: equal recipes give equal code for equal vector units.
struct DeferredFunction {
  std::string name, recipe;
};
using DeferredFunctions = std::vector<DeferredFunction>;

/// Which functions of products get bodies while code is emitted (`Emit::bodies`); the others are declared.
class ProductBodies {
public:
  /// None get bodies.
  ProductBodies() = default;
  /// The functions of these names get bodies: those through which the last one is reached from the root.
  explicit ProductBodies(std::vector<std::string> way) : way_(std::move(way)) {}

  /// Whether a function that has just been declared gets its body, which `end` is behind.
  bool begin(mlir::func::FuncOp function);
  void end();
  /// Removes all declarations that nothing calls, and gives the others. Of the functions with bodies the last one stays.
  DeferredFunctions finish(mlir::ModuleOp module);

private:
  friend mlir::func::FuncOp rootFunction(const Emit &e, const ProductRoot &root);
  std::string recipeOf(llvm::StringRef name) const;

  std::vector<std::string> way_;
  std::vector<std::string> open_;   ///< whose bodies are emitted at present, the outer ones first
  std::optional<ProductRoot> root_; ///< the last one whose function was asked for
  std::vector<std::pair<mlir::func::FuncOp, std::string>> declared_; ///< with recipes
};

/// The module of one function, which is public there, and the functions that it calls. Null if the text is no recipe.
mlir::OwningOpRef<mlir::ModuleOp> deferredFunction(mlir::MLIRContext &context,
                                                   llvm::StringRef recipe, const VectorUnit &unit,
                                                   DeferredFunctions &called);

} // namespace ptl::cpu
