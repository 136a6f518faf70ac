# Tensors by PyTorch's interface in C++, where its headers are: for the one version that is installed here, whose name is that of the file.
# Other versions are asked by their interface in Python.
execute_process(COMMAND ${Python3_EXECUTABLE} -c
  "import importlib.util, sysconfig; torch = importlib.util.find_spec('torch'); print(torch.submodule_search_locations[0] if torch else '', sysconfig.get_config_var('SOABI'), sep=';')"
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
list(GET found 0 torch)
list(GET found 1 soabi)
find_path(PTL_PYBIND_INCLUDE pybind11/pybind11.h)
if(NOT PTL_PYBIND_INCLUDE OR NOT EXISTS "${torch}/include/torch/csrc/autograd/python_variable.h")
  return()
endif()
file(STRINGS "${torch}/version.py" lines REGEX "^(__version__|git_version) = ")
list(TRANSFORM lines REPLACE ".*= '(.*)'" "\\1")
list(JOIN lines "-" version)

add_library(ptl_torch_access MODULE python/torch_access.cpp)
target_include_directories(ptl_torch_access SYSTEM PRIVATE ${PTL_PYTHON_INCLUDE} ${PTL_PYBIND_INCLUDE} "${torch}/include")
target_link_libraries(ptl_torch_access PRIVATE "${torch}/lib/libtorch_python.so" "${torch}/lib/libtorch_cpu.so" "${torch}/lib/libc10.so")
set_target_properties(ptl_torch_access PROPERTIES PREFIX "" OUTPUT_NAME "_torch_access.torch-${version}" SUFFIX ".${soabi}.so"
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/python SKIP_BUILD_RPATH ON)
install(TARGETS ptl_torch_access LIBRARY DESTINATION lib/python3/dist-packages/ptl COMPONENT python)
