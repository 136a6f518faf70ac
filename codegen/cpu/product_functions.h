// Functions of products whose bodies are made when they are first called: of the ways to compute a
// product, most programs use few. Each function can be made as a module of its own from a text (its
// recipe), in this process or another.
#pragma once

#include "codegen/cpu/emit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ptl::cpu {

/// The function that a program calls for one product, or for a sum of products. The code of each
/// function that it calls depends only on these types, on the function's name and on the vector
/// unit.
struct ProductRoot {
  bool isSum;
  mlir::Type a, b; ///< element types of the operands
  mlir::Type c;    ///< storage type of the result
};

/// Declares or defines the function of a root in the module where code is emitted.
mlir::func::FuncOp rootFunction(const Emit &e, const ProductRoot &root);

/// A function that is declared and has no body as yet. `recipe` says how to make it: equal recipes
/// give equal code for equal vector units.
struct DeferredFunction {
  std::string name, recipe;
};
using DeferredFunctions = std::vector<DeferredFunction>;

/// Selects which functions of products get bodies while code is emitted (`Emit::bodies`); the
/// others are only declared.
class ProductBodies {
public:
  /// No function gets a body.
  ProductBodies() = default;
  /// The functions of these names get bodies: the path of calls from the root to the wanted
  /// function, which is the last.
  explicit ProductBodies(std::vector<std::string> way) : way_(std::move(way)) {}

  /// Whether a function that has just been declared gets its body. If so, `end` must follow the
  /// body.
  bool begin(mlir::func::FuncOp function);
  void end();
  /// Removes all declarations that nothing calls and returns the others. Of the functions with
  /// bodies only the last one stays.
  DeferredFunctions finish(mlir::ModuleOp module);

private:
  friend mlir::func::FuncOp rootFunction(const Emit &e, const ProductRoot &root);
  std::string recipeOf(llvm::StringRef name) const;

  std::vector<std::string> way_;
  /// functions whose bodies are being emitted, the outermost first
  std::vector<std::string> open_;
  std::optional<ProductRoot> root_; ///< the last root whose function was requested
  std::vector<std::pair<mlir::func::FuncOp, std::string>> declared_; ///< with recipes
};

/// A module that holds the function of a recipe, which is public there, and declarations of its
/// callees. Null if the text is not a recipe.
mlir::OwningOpRef<mlir::ModuleOp> deferredFunction(mlir::MLIRContext &context,
                                                   llvm::StringRef recipe, const VectorUnit &unit,
                                                   DeferredFunctions &called);

} // namespace ptl::cpu
