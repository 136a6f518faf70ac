# Writes OUT, a header with the commit of the sources in SOURCE: `#define PTL_COMMIT "a1b2c3d4e5"`, with `+` where files differ from it, empty where there
# is no repository. The file is only touched when its text changes, so that nothing is built again for nothing.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(commit)
  execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE differs ERROR_QUIET)
  if(differs)
    string(APPEND commit "+")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define PTL_COMMIT \"${commit}\"\n")
