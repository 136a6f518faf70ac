#include "runtime/library.h"

#include "runtime/arena.h"
#include "runtime/kept_call.h"
#include "runtime/schedule/pool.h"

#include <atomic>
#include <dlfcn.h>

PtlLibrary::~PtlLibrary() {
  if (handle)
    dlclose(handle);
}

namespace ptl::rt {
namespace {

std::atomic<uint64_t> nextSerial{1};

std::string listVariants(const PtlEntry &entry) {
  std::string text;
  for (const std::string &variant : entry.variantTexts)
    text += (text.empty() ? "" : "; ") + (variant.empty() ? "(no static values)" : variant);
  return text.empty() ? "nothing" : text;
}

Failure noVariant(const PtlEntry &entry, const std::string &wanted) {
  return {PTL_ERROR_VARIANT,
          "`" + entry.entry->name + "`: no variant for " + wanted +
              "; compiled are: " + listVariants(entry),
          entry.entry->file, entry.entry->line};
}

/// What a call needs memory for. A small kernel takes less time than allocating it would, so each
/// thread keeps it from call to call.
struct CallMemory {
  KeptCalls kept;
  Binding binding;
  std::vector<int64_t> dims;
  bool isInUse = false;
};

/// The memory of this thread for one call; a call from within another has its own.
class UsedMemory {
public:
  UsedMemory() : memory_(&ofThread()) {
    if (memory_->isInUse)
      memory_ = &own_.emplace();
    memory_->isInUse = true;
  }
  ~UsedMemory() { memory_->isInUse = false; }
  UsedMemory(const UsedMemory &) = delete;
  UsedMemory &operator=(const UsedMemory &) = delete;

  CallMemory &operator*() { return *memory_; }
  CallMemory *operator->() { return memory_; }

private:
  static CallMemory &ofThread() {
    static thread_local CallMemory memory;
    return memory;
  }

  CallMemory *memory_;
  std::optional<CallMemory> own_;
};

void clear(Binding &binding) {
  binding.leading.clear();
  binding.dims.clear();
  binding.elems.clear();
  binding.scalarElems.clear();
  binding.origins.clear();
  binding.elemOrigins.clear();
  binding.leadingOrigin = nullptr;
}

/// The values of `..` and of all dimensions, as compiled code takes them.
void setDims(const Binding &binding, std::vector<int64_t> &values) {
  values.assign(binding.leading.begin(), binding.leading.end());
  for (const std::optional<int64_t> &dim : binding.dims)
    values.push_back(dim.value_or(0));
}

/// Makes all checks of a call and finds the variant that runs it, and the dimensions that its code takes.
Failure checkCall(const PtlEntry &entry, const CallArguments &all, CallMemory &memory,
                  size_t &variant, std::string &missing) {
  const Entry &info = *entry.entry;
  size_t outputs = std::min<size_t>(info.outputCount, all.arrays.size());
  CallArguments inputs{all.arrays.first(all.arrays.size() - outputs), all.scalars, all.dims};
  Binding &binding = memory.binding;
  clear(binding);
  // Inputs bind the dimensions that outputs are then checked against.
  if (Failure failure = bindInputs(info, inputs, binding))
    return failure;
  if (Failure failure = checkOutputs(info, all, binding))
    return failure;
  const Variant *found = selectVariant(info, binding);
  if (!found) {
    missing = describeWanted(info, binding);
    return noVariant(entry, missing);
  }
  variant = static_cast<size_t>(found - info.variants.data());
  setDims(binding, memory.dims);
  if (entry.keepsCalls)
    memory.kept.keep(entry, all, variant, memory.dims);
  return {};
}

/// The failure of a call that stopped: its own reason, led by the name of the entry.
[[gnu::cold]] Failure failureOf(const Entry &info, PtlContext &context, int32_t status) {
  if (!context.failure)
    return {status, "`" + info.name + "` stopped without a reason", info.file, info.line};
  Failure failure = std::move(context.failure);
  failure.message = "`" + info.name + "`: " + failure.message;
  if (failure.file.empty())
    failure.file = info.file;
  return failure;
}

} // namespace

Failure openManifest(const char *manifest, PtlLookup lookup, void *user, PtlLibrary &library) {
  library.manifestText = manifest;
  std::string problem;
  std::optional<Manifest> parsed = parseManifest(manifest, problem);
  if (!parsed)
    return {PTL_ERROR_MANIFEST, "the manifest cannot be used: " + problem, "", 0};
  library.manifest = std::move(*parsed);
  for (const Entry &entry : library.manifest.entries) {
    PtlEntry &loaded = library.entries.emplace_back();
    loaded.entry = &entry;
    // A kept call is found by this number and not by the address of the entry, which another
    // library may have after this one was closed.
    loaded.serial = nextSerial.fetch_add(1, std::memory_order_relaxed);
    loaded.keepsCalls = KeptCall::canKeep(entry);
    for (const Variant &variant : entry.variants) {
      void *address = lookup(user, variant.symbol.c_str());
      if (!address)
        return {PTL_ERROR_MANIFEST,
                "the manifest names the symbol `" + variant.symbol +
                    "`, which the library does not contain",
                "", 0};
      loaded.functions.push_back(reinterpret_cast<PtlEntryFn>(address));
      loaded.variantTexts.push_back(variant.describe(entry));
    }
  }
  return {};
}

Failure openLibrary(const char *path, std::unique_ptr<PtlLibrary> &library) {
  library = std::make_unique<PtlLibrary>();
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    const char *reason = dlerror();
    return {PTL_ERROR_LOAD, std::string("cannot open `") + path + "`: " + (reason ? reason : ""),
            "", 0};
  }
  auto *manifest = static_cast<const char *>(dlsym(library->handle, "ptl_manifest"));
  if (!manifest)
    return {PTL_ERROR_MANIFEST,
            std::string("`") + path + "` contains no manifest: it was not compiled from PTL", "",
            0};
  PtlLookup lookup = [](void *handle, const char *symbol) { return dlsym(handle, symbol); };
  return openManifest(manifest, lookup, library->handle, *library);
}

Failure callEntry(const PtlEntry &entry, const CallArguments &all, std::string &missing) {
  UsedMemory memory;
  size_t variant = 0;
  const int64_t *dims = nullptr;
  if (const KeptCall *kept = memory->kept.find(entry, all)) {
    variant = kept->variant();
    dims = kept->dims();
  } else {
    if (Failure failure = checkCall(entry, all, *memory, variant, missing))
      return failure;
    dims = memory->dims.data();
  }
  PtlContext context(ThreadPool::shared());
  Arena &arena = Arena::ofThread();
  // A call that stops in the middle leaves scratch memory behind, which goes here whatever
  // happened.
  int64_t mark = arena.mark();
  int32_t status = entry.functions[variant](&context, all.arrays.data(), dims, all.scalars.data());
  arena.release(mark);
  return status == PTL_OK && !context.failure ? Failure{}
                                              : failureOf(*entry.entry, context, status);
}

} // namespace ptl::rt
