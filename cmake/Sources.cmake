# ptl_sources(PATTERNS...): sets `sources` to the files that the patterns match, without tests, and `tests` to those whose names end in
# `_test.cpp`.
function(ptl_sources)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(sources ${sources} PARENT_SCOPE)
  set(tests ${tests} PARENT_SCOPE)
endfunction()
