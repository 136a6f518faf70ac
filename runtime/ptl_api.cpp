// The C interface of ptl.h. Everything it does is done elsewhere; this file converts.
#include "runtime/include/ptl.h"

#include "runtime/array_walk.h"
#include "runtime/dlpack.h"
#include "runtime/library.h"
#include "runtime/schedule/pool.h"

#include <cstring>

using namespace ptl::rt;

namespace {

/// The last failure of this thread, which ptl.h lets callers read until the next call.
struct LastFailure {
  Failure failure;
  std::string text; // with file and line
  std::string missing;
  PtlFailure view{};
};

LastFailure &lastFailure() {
  static thread_local LastFailure last;
  return last;
}

int32_t finish(Failure failure, std::string missing = "") {
  LastFailure &last = lastFailure();
  last.failure = std::move(failure);
  last.missing = std::move(missing);
  last.text.clear();
  if (!last.failure)
    return PTL_OK;
  if (!last.failure.file.empty()) {
    last.text = last.failure.file + ":";
    if (last.failure.line > 0)
      last.text += std::to_string(last.failure.line) + ":";
    last.text += " ";
  }
  last.text += last.failure.message;
  return last.failure.code;
}

/// As `finish` without a failure; usually there was none before, and nothing has to be forgotten.
int32_t finishFine() { return lastFailure().failure ? finish({}) : PTL_OK; }

int32_t nullArgument(const char *function) {
  return finish({PTL_ERROR_ARGUMENT, std::string(function) + " is given a null pointer", "", 0});
}

bool inside(int64_t index, size_t count) {
  return index >= 0 && index < static_cast<int64_t>(count);
}

CallArguments collect(const PtlArray *const *arrays, int32_t arrayCount, const PtlScalar *scalars,
                      int32_t scalarCount, const PtlDim *dims, int32_t dimCount) {
  return {{arrays, static_cast<size_t>(std::max(arrayCount, 0))},
          {scalars, static_cast<size_t>(std::max(scalarCount, 0))},
          {dims, static_cast<size_t>(std::max(dimCount, 0))}};
}

bool incomplete(const void *entry, const PtlArray *const *arrays, int32_t arrayCount,
                const PtlScalar *scalars, int32_t scalarCount, const PtlDim *dims,
                int32_t dimCount) {
  return !entry || (arrayCount > 0 && !arrays) || (scalarCount > 0 && !scalars) ||
         (dimCount > 0 && !dims);
}

} // namespace

int32_t ptl_open(const char *path, PtlLibrary **library) {
  if (!path || !library)
    return nullArgument("ptl_open");
  std::unique_ptr<PtlLibrary> opened;
  Failure failure = openLibrary(path, opened);
  *library = failure ? nullptr : opened.release();
  return finish(std::move(failure));
}

int32_t ptl_open_manifest(const char *manifest, PtlLookup lookup, void *user,
                          PtlLibrary **library) {
  if (!manifest || !lookup || !library)
    return nullArgument("ptl_open_manifest");
  auto opened = std::make_unique<PtlLibrary>();
  Failure failure = openManifest(manifest, lookup, user, *opened);
  *library = failure ? nullptr : opened.release();
  return finish(std::move(failure));
}

void ptl_close(PtlLibrary *library) { delete library; }

const char *ptl_manifest_text(const PtlLibrary *library) {
  return library ? library->manifestText.c_str() : "";
}

int32_t ptl_entry_count(const PtlLibrary *library) {
  return library ? static_cast<int32_t>(library->entries.size()) : 0;
}

const PtlEntry *ptl_entry(const PtlLibrary *library, int32_t index) {
  return library && inside(index, library->entries.size()) ? &library->entries[index] : nullptr;
}

const PtlEntry *ptl_find(const PtlLibrary *library, const char *name) {
  if (!library || !name) {
    nullArgument("ptl_find");
    return nullptr;
  }
  std::string known;
  for (const PtlEntry &entry : library->entries) {
    if (entry.entry->name == name)
      return &entry;
    known += (known.empty() ? "" : ", ") + entry.entry->name;
  }
  finish({PTL_ERROR_NAME, std::string("no entry `") + name + "`; there is: " + known,
          library->manifest.source, 0});
  return nullptr;
}

const char *ptl_entry_name(const PtlEntry *entry) {
  return entry ? entry->entry->name.c_str() : "";
}

const char *ptl_entry_signature(const PtlEntry *entry) {
  return entry ? entry->entry->signature.c_str() : "";
}

const char *ptl_entry_doc(const PtlEntry *entry) { return entry ? entry->entry->doc.c_str() : ""; }

int32_t ptl_param_count(const PtlEntry *entry) {
  return entry ? static_cast<int32_t>(entry->entry->params.size()) : 0;
}

int32_t ptl_output_count(const PtlEntry *entry) { return entry ? entry->entry->outputCount : 0; }

int32_t ptl_param(const PtlEntry *entry, int32_t index, PtlParam *param) {
  if (!entry || !param)
    return nullArgument("ptl_param");
  if (!inside(index, entry->entry->params.size()))
    return finish({PTL_ERROR_ARGUMENT, "no parameter " + std::to_string(index), "", 0});
  const Param &from = entry->entry->params[index];
  *param = {from.name.c_str(),
            from.elemName.c_str(),
            from.shapeText.c_str(),
            from.elem ? int32_t(*from.elem) : -1,
            from.hasLeading ? -1 : static_cast<int32_t>(from.shape.size()),
            from.kind,
            static_cast<int32_t>(from.strides)};
  return finish({});
}

int32_t ptl_dim_count(const PtlEntry *entry) {
  return entry ? static_cast<int32_t>(entry->entry->dims.size()) : 0;
}

const char *ptl_dim_name(const PtlEntry *entry, int32_t index) {
  return entry && inside(index, entry->entry->dims.size()) ? entry->entry->dims[index].name.c_str()
                                                           : nullptr;
}

int32_t ptl_dim_is_static(const PtlEntry *entry, int32_t index) {
  return entry && inside(index, entry->entry->dims.size()) && entry->entry->dims[index].isStatic;
}

int32_t ptl_where_count(const PtlEntry *entry) {
  return entry ? static_cast<int32_t>(entry->entry->wheres.size()) : 0;
}

const char *ptl_where(const PtlEntry *entry, int32_t index) {
  return entry && inside(index, entry->entry->wheres.size())
             ? entry->entry->wheres[index].text.c_str()
             : nullptr;
}

int32_t ptl_variant_count(const PtlEntry *entry) {
  return entry ? static_cast<int32_t>(entry->variantTexts.size()) : 0;
}

const char *ptl_variant(const PtlEntry *entry, int32_t index) {
  return entry && inside(index, entry->variantTexts.size()) ? entry->variantTexts[index].c_str()
                                                            : nullptr;
}

static int32_t inferOutputs(const PtlEntry *entry, const CallArguments &inputs, PtlView *outputs) {
  Binding binding;
  if (Failure failure = bindInputs(*entry->entry, inputs, binding))
    return finish(std::move(failure));
  for (int32_t i = 0; i < entry->entry->outputCount; ++i) {
    OutputShape shape;
    if (!outputs)
      return nullArgument("ptl_infer");
    if (Failure failure = outputShape(*entry->entry, i, inputs, binding, shape))
      return finish(std::move(failure));
    ptl_view_dense(&outputs[i], static_cast<PtlElem>(shape.elem), nullptr,
                   static_cast<int32_t>(shape.extents.size()), shape.extents.data());
  }
  return finish({});
}

int32_t ptl_infer(const PtlEntry *entry, const PtlArray *const *arrays, int32_t arrayCount,
                  const PtlScalar *scalars, int32_t scalarCount, const PtlDim *dims,
                  int32_t dimCount, PtlView *outputs) {
  if (incomplete(entry, arrays, arrayCount, scalars, scalarCount, dims, dimCount))
    return nullArgument("ptl_infer");
  return inferOutputs(entry, collect(arrays, arrayCount, scalars, scalarCount, dims, dimCount),
                      outputs);
}

int32_t ptl_infer_shapes(const PtlEntry *entry, const PtlArray *const *arrays, int32_t arrayCount,
                         const PtlScalar *scalars, int32_t scalarCount, const PtlDim *dims,
                         int32_t dimCount, PtlView *outputs) {
  if (incomplete(entry, arrays, arrayCount, scalars, scalarCount, dims, dimCount))
    return nullArgument("ptl_infer_shapes");
  CallArguments inputs = collect(arrays, arrayCount, scalars, scalarCount, dims, dimCount);
  inputs.isShapesOnly = true;
  return inferOutputs(entry, inputs, outputs);
}

int32_t ptl_call(const PtlEntry *entry, const PtlArray *const *arrays, int32_t arrayCount,
                 const PtlScalar *scalars, int32_t scalarCount, const PtlDim *dims,
                 int32_t dimCount) {
  if (incomplete(entry, arrays, arrayCount, scalars, scalarCount, dims, dimCount))
    return nullArgument("ptl_call");
  std::string missing;
  Failure failure =
      callEntry(*entry, collect(arrays, arrayCount, scalars, scalarCount, dims, dimCount), missing);
  return failure ? finish(std::move(failure), std::move(missing)) : finishFine();
}

const char *ptl_last_error(void) { return lastFailure().text.c_str(); }

const PtlFailure *ptl_last_failure(void) {
  LastFailure &last = lastFailure();
  last.view = {last.failure.code, last.failure.message.c_str(),
               last.failure.file.empty() ? nullptr : last.failure.file.c_str(), last.failure.line};
  return &last.view;
}

const char *ptl_missing_variant(void) { return lastFailure().missing.c_str(); }

const char *ptl_status_class(int32_t status) {
  switch (status) {
#define PTL_STATUS(id, code, exception, meaning)                                                   \
  case PTL_##id:                                                                                   \
    return exception;
#include "runtime/include/ptl_errors.def"
  default:
    return "CallError";
  }
}

const PtlArray *ptl_view_strided(PtlView *view, PtlElem elem, void *data, int32_t rank,
                                 const int64_t *extents, const int64_t *strides) {
  int32_t kept = std::min<int32_t>(std::max(rank, 0), PTL_MAX_RANK);
  if (kept > 0) {
    std::memcpy(view->extents, extents, kept * sizeof(int64_t));
    std::memcpy(view->strides, strides, kept * sizeof(int64_t));
  }
  view->array = {data, rank, view->extents, view->strides, elem};
  return &view->array;
}

const PtlArray *ptl_view_dense(PtlView *view, PtlElem elem, void *data, int32_t rank,
                               const int64_t *extents) {
  int64_t strides[PTL_MAX_RANK];
  int64_t next = 1;
  for (int32_t axis = std::min<int32_t>(rank, PTL_MAX_RANK) - 1; axis >= 0; --axis) {
    strides[axis] = next;
    // A product that does not fit is found by the checks of the call.
    if (__builtin_mul_overflow(next, std::max<int64_t>(extents[axis], 1), &next))
      next = INT64_MAX;
  }
  return ptl_view_strided(view, elem, data, rank, extents, strides);
}

int32_t ptl_view_dlpack(PtlView *view, const void *tensor) {
  if (!view || !tensor)
    return nullArgument("ptl_view_dlpack");
  return finish(viewOfDlpack(*static_cast<const DlTensor *>(tensor), *view));
}

int32_t ptl_elem_size(int32_t elem) {
  const ElemInfo *info = elemInfo(elem);
  return info ? info->size() : 0;
}

const char *ptl_elem_name(int32_t elem) { return elemName(elem); }

int32_t ptl_elem_from_name(const char *name) {
  std::optional<PtlElem> elem = name ? elemFromName(name) : std::nullopt;
  return elem ? *elem : -1;
}

int32_t ptl_thread_count(void) { return ThreadPool::shared().threadCount(); }

int32_t ptl_limit_threads(int32_t most) { return ThreadPool::limitThreads(most); }

int32_t ptl_abi_version(void) { return PTL_ABI_VERSION; }
