/* Prints what the compiled library makes of 0 to 3. */
#include "scaling.h"

#include <stdio.h>

int main(void) {
  PtlLibrary *library;
  if (ptl_open(SCALING_LIBRARY, &library) != PTL_OK) {
    fprintf(stderr, "%s\n", ptl_last_error());
    return 1;
  }
  float x[] = {0, 1, 2, 3}, y[4];
  if (scaled(library, 4, x, y) != PTL_OK) {
    fprintf(stderr, "%s\n", ptl_last_error());
    return 1;
  }
  for (int i = 0; i < 4; ++i)
    printf("%g ", y[i]);
  printf("\n");
  ptl_close(library);
  return 0;
}
