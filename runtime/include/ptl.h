/* ptl.h: load a library compiled from PTL, ask what it holds, call it.  C11 and C++.
 *
 *     PtlLibrary *library;
 *     if (ptl_open("./libsoftmax.so", &library) != PTL_OK) { puts(ptl_last_error()); exit(1); }
 *     const PtlEntry *softmax = ptl_find(library, "softmax_rows");
 *     const int64_t shape[] = {37, 100};
 *     PtlView x, y;
 *     const PtlArray *arrays[] = {ptl_view_dense(&x, PTL_F32, in, 2, shape),
 *                                 ptl_view_dense(&y, PTL_F32, out, 2, shape)};
 *     int32_t status = ptl_call(softmax, arrays, 2, NULL, 0, NULL, 0);
 *
 * Every function that can fail returns a PtlStatus; `ptl_last_error` explains the last failure of
 * the calling thread. Any number of threads may call entries of one library at the same time.
 * Nothing here depends on the compiler: a library needs this runtime and the C library only.
 */
#ifndef PTL_H
#define PTL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PTL_API __attribute__((visibility("default")))
#else
#define PTL_API
#endif

/* Raised when an existing declaration changes its meaning or layout; compiled libraries record it.
 */
#define PTL_ABI_VERSION 1

/* Most axes an array may have. */
#define PTL_MAX_RANK 16

typedef enum PtlElem {
#define PTL_ELEM(id, code, spelling, bits, numpy, dlpack) PTL_##id = code,
#include "ptl_elems.def"
} PtlElem;

typedef enum PtlStatus {
#define PTL_STATUS(id, code, exception, meaning) PTL_##id = code,
#include "ptl_errors.def"
} PtlStatus;

/* An array as callers and compiled code see it: borrowed memory with extents and strides, both
 * `rank` long. Strides count elements. `elem` is a PtlElem. `bool` is one byte, 0 or 1. */
typedef struct PtlArray {
  void *data;
  int64_t rank;
  const int64_t *extents;
  const int64_t *strides;
  int32_t elem;
} PtlArray;

/* A scalar: an 8-byte cell whose first bytes hold the value in its own element type. */
typedef union PtlScalar {
  int64_t i64; /* also `int` */
  int32_t i32;
  int16_t i16;
  int8_t i8;
  uint64_t u64;
  uint32_t u32;
  uint16_t u16; /* also the bits of f16 and bf16 */
  uint8_t u8;   /* also bool, and the bits of f8 */
  double f64;
  float f32;
} PtlScalar;

/* An array together with storage for its extents and strides. `array` points into the same
 * object: fill a view where it stays, never copy it. */
typedef struct PtlView {
  PtlArray array;
  int64_t extents[PTL_MAX_RANK];
  int64_t strides[PTL_MAX_RANK];
} PtlView;

/* A value given to a dimension by name: one that no argument fixes. */
typedef struct PtlDim {
  const char *name;
  int64_t value;
} PtlDim;

/* What stopped the last call. `file` and `line` point at PTL source, or are NULL and 0. */
typedef struct PtlFailure {
  int32_t code;
  const char *message;
  const char *file;
  int32_t line;
} PtlFailure;

typedef struct PtlLibrary PtlLibrary;
typedef struct PtlEntry PtlEntry;

typedef enum PtlParamKind {
  PTL_PARAM_ARRAY = 0,
  PTL_PARAM_INOUT = 1,
  PTL_PARAM_SCALAR = 2,
  PTL_PARAM_OUTPUT = 3
} PtlParamKind;

/* Dense row-major, whatever the caller has, or bound to names of the signature. */
typedef enum PtlStrides {
  PTL_STRIDES_DENSE = 0,
  PTL_STRIDES_ANY = 1,
  PTL_STRIDES_DECLARED = 2
} PtlStrides;

/* One parameter or output as declared. `elem` is -1 where the element type is generic; then
 * `elem_name` is the name of the type parameter. `rank` is -1 where the shape starts with `..`. */
typedef struct PtlParam {
  const char *name;
  const char *elem_name;
  const char *shape; /* as written, for example "[.., C]"; "" for scalars */
  int32_t elem;
  int32_t rank;
  int32_t kind;    /* PtlParamKind */
  int32_t strides; /* PtlStrides */
} PtlParam;

/* --- Libraries ------------------------------------------------------------------------------ */

/* Opens a compiled library. On failure *library is NULL. */
PTL_API int32_t ptl_open(const char *path, PtlLibrary **library);

/* The same for code that is already in memory: `manifest` is the JSON text described in
 * docs/manifest.md, `lookup` returns the address of a symbol or NULL. Both are used only during
 * this call; the code must outlive the library. */
typedef void *(*PtlLookup)(void *user, const char *symbol);
PTL_API int32_t ptl_open_manifest(const char *manifest, PtlLookup lookup, void *user,
                                  PtlLibrary **library);

/* Closes it; its entries and the texts obtained from them are gone afterwards. NULL is legal. */
PTL_API void ptl_close(PtlLibrary *library);

PTL_API const char *ptl_manifest_text(const PtlLibrary *library);
PTL_API int32_t ptl_entry_count(const PtlLibrary *library);
PTL_API const PtlEntry *ptl_entry(const PtlLibrary *library, int32_t index); /* NULL outside */
/* By name; NULL, with the known names in `ptl_last_error`, if there is none. */
PTL_API const PtlEntry *ptl_find(const PtlLibrary *library, const char *name);

/* --- Entries -------------------------------------------------------------------------------- */

PTL_API const char *ptl_entry_name(const PtlEntry *entry);
PTL_API const char *ptl_entry_signature(const PtlEntry *entry); /* as written in the source */
PTL_API const char *ptl_entry_doc(const PtlEntry *entry);
/* Parameters in declaration order, then the outputs. */
PTL_API int32_t ptl_param_count(const PtlEntry *entry);
PTL_API int32_t ptl_output_count(const PtlEntry *entry);
PTL_API int32_t ptl_param(const PtlEntry *entry, int32_t index, PtlParam *param);
PTL_API int32_t ptl_dim_count(const PtlEntry *entry);
PTL_API const char *ptl_dim_name(const PtlEntry *entry, int32_t index); /* NULL outside */
PTL_API int32_t ptl_dim_is_static(const PtlEntry *entry, int32_t index);
PTL_API int32_t ptl_where_count(const PtlEntry *entry);
PTL_API const char *ptl_where(const PtlEntry *entry, int32_t index); /* as written */
PTL_API int32_t ptl_variant_count(const PtlEntry *entry);
PTL_API const char *ptl_variant(const PtlEntry *entry, int32_t index); /* "C=512 T=f32 ..=1" */

/* --- Calls ---------------------------------------------------------------------------------- */

/* The shapes of the outputs for these inputs: fills `outputs[k]` (data is NULL, strides dense) for
 * each of the ptl_output_count outputs. `arrays` are the array parameters in declaration order,
 * `scalars` the scalar parameters in declaration order, `dims` values of dimensions that no array
 * fixes. All checks on inputs are made, `where`s included. */
PTL_API int32_t ptl_infer(const PtlEntry *entry, const PtlArray *const *arrays, int32_t array_count,
                          const PtlScalar *scalars, int32_t scalar_count, const PtlDim *dims,
                          int32_t dim_count, PtlView *outputs);

/* The same for arrays without elements, whose `data` may be NULL: what the signature says of elements
 * (`all(idx < V)`, `unique`, `sorted`) is not checked. */
PTL_API int32_t ptl_infer_shapes(const PtlEntry *entry, const PtlArray *const *arrays,
                                 int32_t array_count, const PtlScalar *scalars,
                                 int32_t scalar_count, const PtlDim *dims, int32_t dim_count,
                                 PtlView *outputs);

/* Checks everything the signature says, picks the variant and runs it. `arrays` are the array
 * parameters in declaration order followed by the outputs. Nothing is written unless every check
 * at the boundary passed; after a failure inside the code the outputs hold unspecified values. */
PTL_API int32_t ptl_call(const PtlEntry *entry, const PtlArray *const *arrays, int32_t array_count,
                         const PtlScalar *scalars, int32_t scalar_count, const PtlDim *dims,
                         int32_t dim_count);

/* The last failure of this thread: never NULL; valid until the thread's next call of a function
 * of this header. After PTL_ERROR_VARIANT `ptl_missing_variant` says which one was wanted, in the
 * form of `ptl_variant`. */
PTL_API const char *ptl_last_error(void);
PTL_API const PtlFailure *ptl_last_failure(void);
PTL_API const char *ptl_missing_variant(void);

/* The class of errors that a status belongs to: what bindings name their exceptions. "" for
 * success. */
PTL_API const char *ptl_status_class(int32_t status);

/* --- Descriptors ---------------------------------------------------------------------------- */

/* Fills `view` for dense row-major data and returns its array. Ranks above PTL_MAX_RANK are cut;
 * the call then reports the wrong rank. */
PTL_API const PtlArray *ptl_view_dense(PtlView *view, PtlElem elem, void *data, int32_t rank,
                                       const int64_t *extents);
/* With strides in elements. */
PTL_API const PtlArray *ptl_view_strided(PtlView *view, PtlElem elem, void *data, int32_t rank,
                                         const int64_t *extents, const int64_t *strides);
/* From a DLPack tensor (a `DLTensor *`), on the CPU only; the memory stays the tensor's. */
PTL_API int32_t ptl_view_dlpack(PtlView *view, const void *dl_tensor);

/* Size in bytes of one element, 0 for what has no storage; its name, and back (-1: unknown). */
PTL_API int32_t ptl_elem_size(int32_t elem);
PTL_API const char *ptl_elem_name(int32_t elem);
PTL_API int32_t ptl_elem_from_name(const char *name);

/* Threads that calls of the calling thread use: all processors, or PTL_NUM_THREADS, or fewer if limited. */
PTL_API int32_t ptl_thread_count(void);
/* Lets calls of the calling thread use at most so many threads, 0: as many as there are. Gives the limit that
 * was there before. For programs whose other libraries have threads, too. */
PTL_API int32_t ptl_limit_threads(int32_t most);
PTL_API int32_t ptl_abi_version(void);

#ifdef __cplusplus
}
#endif
#endif
