#include "lsp/worker/function_key.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ptl::worker {

template <typename Printed> const std::string &FunctionKeys::textOf(Printed printed) {
  auto [known, isNew] = texts_.try_emplace(printed.getAsOpaquePointer());
  if (isNew) {
    llvm::raw_string_ostream out(known->second);
    printed.print(out);
  }
  return known->second;
}

/// Serialises a function as bytes. Whatever has a text is written as text at its first occurrence
/// in the function and as a number from then on, so that equal bytes mean equal functions.
class FunctionKeys::Writer {
public:
  Writer(FunctionKeys &keys, FunctionKey &key) : keys_(keys), key_(key) {}

  void write(func::FuncOp function) {
    add(function.getName());
    addAttribute(function->getAttrDictionary());
    addRegion(function.getBody());
  }
  void add(llvm::StringRef text) {
    add(text.size());
    bytes_.append(text.data(), text.size());
  }
  llvm::XXH128_hash_t digest() const {
    return llvm::xxh3_128bits(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes_.data()), bytes_.size()));
  }

private:
  void add(uint64_t number) {
    // A variable-length number, seven bits per byte: most numbers are small, and the digest reads
    // every byte.
    for (; number >= 128; number >>= 7)
      bytes_ += static_cast<char>(number | 128);
    bytes_ += static_cast<char>(number);
  }
  template <typename Text> void addOnce(const void *key, Text text) {
    auto [known, isNew] = seen_.try_emplace(key, seen_.size());
    add(known->second);
    if (isNew)
      add(text());
  }
  void addType(mlir::Type type) {
    addOnce(type.getAsOpaquePointer(), [&]() -> llvm::StringRef { return keys_.textOf(type); });
  }
  void addAttribute(Attribute attribute) {
    if (!attribute)
      return add(uint64_t(0));
    add(uint64_t(1));
    addOnce(attribute.getAsOpaquePointer(),
            [&]() -> llvm::StringRef { return keys_.textOf(attribute); });
  }
  void addValue(Value value) { add(values_.try_emplace(value, values_.size()).first->second); }
  void addPlace(Location location);
  void addRegion(Region &region);
  void addOperation(Operation &op);

  FunctionKeys &keys_;
  FunctionKey &key_;
  std::string bytes_;
  llvm::DenseMap<const void *, uint64_t> seen_;
  llvm::DenseMap<Value, uint64_t> values_;
  llvm::DenseMap<mlir::Block *, uint64_t> blocks_;
};

void FunctionKeys::Writer::addPlace(Location location) {
  auto [known, isNew] = key_.numbers.try_emplace(location, key_.locations.size() + 1);
  if (isNew)
    key_.locations.push_back(location);
  add(known->second);
}

/// A constant without uses. Only the outlining of grids leaves such copies behind, and they do not
/// affect the code.
static bool isNothing(Operation &op) {
  return op.use_empty() && op.hasTrait<OpTrait::ConstantLike>();
}

void FunctionKeys::Writer::addRegion(Region &region) {
  add(region.getBlocks().size());
  // Blocks are numbered before their contents, because branches refer to later blocks.
  for (mlir::Block &block : region)
    blocks_.try_emplace(&block, blocks_.size());
  for (mlir::Block &block : region) {
    add(block.getNumArguments());
    for (Value argument : block.getArguments()) {
      addValue(argument);
      addType(argument.getType());
    }
    for (Operation &op : block)
      if (!isNothing(op))
        addOperation(op);
    // An end marker that no count equals, so that the operations of different blocks cannot be
    // confused.
    add(~uint64_t(0));
  }
}

void FunctionKeys::Writer::addOperation(Operation &op) {
  addOnce(op.getName().getAsOpaquePointer(), [&] { return op.getName().getStringRef(); });
  addPlace(op.getLoc());
  add(op.getNumOperands());
  for (Value operand : op.getOperands())
    addValue(operand);
  add(op.getNumResults());
  for (Value result : op.getResults()) {
    addValue(result);
    addType(result.getType());
  }
  add(op.getNumSuccessors());
  for (mlir::Block *successor : op.getSuccessors())
    add(blocks_.lookup(successor));
  addAttribute(op.getRawDictionaryAttrs());
  addAttribute(op.getPropertiesAsAttribute());
  // The bytes of a constant are not in the function but in a global of the module.
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
    if (auto global = keys_.symbols_.lookup<LLVM::GlobalOp>(address.getGlobalName()))
      addAttribute(global->getAttrDictionary());
  add(op.getNumRegions());
  for (Region &region : op.getRegions())
    addRegion(region);
}

FunctionKey FunctionKeys::of(func::FuncOp function, const std::string &context) {
  FunctionKey key;
  key.name = function.getName().str();
  Writer writer(*this, key);
  writer.add(context);
  writer.write(function);
  key.digest = writer.digest();
  return key;
}

} // namespace ptl::worker
