// Writes the host code around kernels as C++.
#pragma once

#include "codegen/pto/cpp_emitter.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::pto {

/// The parameters of a kernel's `launch_name`.
struct CppLaunch {
  std::string name;
  bool onGroups = true; ///< `blocks` are core groups (or their cube cores), else vector cores
  /// For each parameter, the bytes for each core group; 0 if the caller gives the argument.
  std::vector<int64_t> groupBytes;
};

/// The name of the entry: `flash_attention_D128`.
std::string hostName(mlir::func::FuncOp host);
/// Whether the host does more than one launch with the arguments as they are.
bool needsHost(mlir::func::FuncOp host);

class CppHostEmitter : public CppFunctionEmitter {
public:
  CppHostEmitter(mlir::func::FuncOp host, const Machine &machine,
                 llvm::ArrayRef<CppLaunch> launches, std::vector<Finding> &findings);
  /// Emits a namespace with `run_name`.
  void emit(TextLines &text);

private:
  /// An array in global memory: dense.
  struct Array {
    std::string pointer;
    llvm::SmallVector<CppExpression> extents;
  };

  bool emitOther(mlir::Operation *op) override;
  std::optional<CppExpression> otherExpression(mlir::Operation *op) override;

  void leave(mlir::Operation *op) override;

  void nameArguments();
  void take(mlir::Operation *op, const std::string &name, const std::string &bytes);
  void emitAlloc(ir::AllocOp alloc);
  void emitLaunch(ir::LaunchOp launch);
  void emitCheck(ir::CheckOp check);
  void emitStore(ir::StoreOp store);
  /// Emits a box: as a scalar, as a part of an array that is not written any more, or as a copy.
  bool emitBox(mlir::Operation *op, mlir::ValueRange offsets, mlir::ValueRange lengths,
               llvm::ArrayRef<int64_t> dropped, bool isPlain);
  void emitView(mlir::Operation *op);
  CppExpression elementAt(const Array &array, mlir::ValueRange offsets);
  /// The length; one that cannot be written is reported.
  CppExpression known(const CppExpression &extent);
  std::string bytesOf(const Array &array, mlir::Type element);
  llvm::SmallVector<CppExpression> extentsOf(mlir::Type type, mlir::ValueRange lengths);

  mlir::func::FuncOp host_;
  llvm::ArrayRef<CppLaunch> launches_;
  CppTypes noTypes_{{}};
  CppHelpers helpers_;
  std::string storage_, stream_, groups_; ///< names of our own
  int64_t vectors_;
  llvm::DenseMap<mlir::Value, Array> arrays_;
  llvm::DenseMap<mlir::Operation *, std::vector<std::string>> dead_; ///< after each operation
};

} // namespace ptl::pto
