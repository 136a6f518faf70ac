/* Calls a library compiled from PTL from C:
 *
 *     ptlc build examples/02_softmax.ptl -D softmax_rows.C=100 -o libsoftmax.so
 *     cc examples/embed/main.c -I runtime/include -L build/lib -lptl_rt -lm -o embed
 *     ./embed ./libsoftmax.so
 */
#include "ptl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 37, COLUMNS = 100 };

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, ptl_last_error());
  return 1;
}

/* Lists what the library holds: the manifest travels inside it. */
static void list(const PtlLibrary *library) {
  for (int32_t i = 0; i < ptl_entry_count(library); ++i) {
    const PtlEntry *entry = ptl_entry(library, i);
    printf("%s\n", ptl_entry_signature(entry));
    for (int32_t k = 0; k < ptl_where_count(entry); ++k)
      printf("    where %s\n", ptl_where(entry, k));
    for (int32_t k = 0; k < ptl_variant_count(entry); ++k)
      if (ptl_variant(entry, k)[0] != '\0')
        printf("    compiled for %s\n", ptl_variant(entry, k));
  }
}

/* The largest distance of a row's sum from 1. */
static double worstSum(const float *y) {
  double worst = 0;
  for (int row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (int column = 0; column < COLUMNS; ++column)
      sum += y[row * COLUMNS + column];
    worst = fmax(worst, fabs(sum - 1));
  }
  return worst;
}

int main(int argc, char **argv) {
  PtlLibrary *library = NULL;
  if (ptl_open(argc > 1 ? argv[1] : "./libsoftmax.so", &library) != PTL_OK)
    return fail("open");
  list(library);
  const PtlEntry *softmax = ptl_find(library, "softmax_rows");
  if (!softmax)
    return fail("find");

  float *x = malloc(sizeof(float) * ROWS * COLUMNS), *y = malloc(sizeof(float) * ROWS * COLUMNS);
  if (!x || !y)
    return 1;
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    x[i] = (float)(i % 17) - 8;

  const int64_t shape[] = {ROWS, COLUMNS};
  PtlView in, out;
  const PtlArray *arrays[] = {ptl_view_dense(&in, PTL_F32, x, 2, shape),
                              ptl_view_dense(&out, PTL_F32, y, 2, shape)};
  if (ptl_call(softmax, arrays, 2, NULL, 0, NULL, 0) != PTL_OK)
    return fail("call");
  printf("rows sum to 1 within %.1e\n", worstSum(y));
  int right = worstSum(y) < 1e-5;

  /* A wrong shape is an error with names and values, not a crash. */
  const int64_t shorter[] = {ROWS - 1, COLUMNS};
  ptl_view_dense(&out, PTL_F32, y, 2, shorter);
  if (ptl_call(softmax, arrays, 2, NULL, 0, NULL, 0) == PTL_ERROR_SHAPE)
    printf("as expected: %s\n", ptl_last_error());
  else
    right = 0;

  free(x);
  free(y);
  ptl_close(library);
  return right ? 0 : 1;
}
