# What `cmake --install` copies, by component, and the packages that `./dev dist` makes of it. Everything is found from where the
# program lies: `bin/ptlc` looks for `bin/ptlc-ir`, `lib/libptl_rt.so` and `share/ptl/std`, so a tree can be moved whole.
# `lib` is not the system's folder for one architecture, since an installation is for one.
include(CMakePackageConfigHelpers)
set(cmake_folder lib/cmake/ptl)
set(doc_folder share/doc/ptl)

# The compiler: what `ptlc` needs, and nothing else.
install(TARGETS ptlc EXPORT ptlTargets RUNTIME DESTINATION bin COMPONENT compiler)
# The process that answers calls of agents (`ptlc mcp`), and the language server's questions.
install(TARGETS ptlc-ir RUNTIME DESTINATION bin COMPONENT compiler)
# Loaded where a program runs as ranks of MPI, and only there is MPI needed.
if(TARGET ptl-mpi)
  install(TARGETS ptl-mpi LIBRARY DESTINATION lib COMPONENT compiler)
endif()
install(DIRECTORY std/ DESTINATION share/ptl/std COMPONENT compiler FILES_MATCHING PATTERN *.ptl)
# These are in the compiler, too; the files are there to be read and to start own ones from.
install(DIRECTORY machines/ DESTINATION share/ptl/machines COMPONENT compiler FILES_MATCHING PATTERN *.json)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION share COMPONENT compiler)
# Where Debian's zsh looks for functions of packages.
install(FILES ${PROJECT_BINARY_DIR}/share/zsh/site-functions/_ptlc DESTINATION share/zsh/vendor-completions COMPONENT compiler)

# What programs that call compiled libraries need, to run and to be built.
set_target_properties(ptl_rt PROPERTIES EXPORT_NAME runtime)
install(TARGETS ptl_rt EXPORT ptlTargets LIBRARY DESTINATION lib COMPONENT runtime)
install(FILES runtime/include/ptl.h runtime/include/ptl_elems.def runtime/include/ptl_errors.def
  DESTINATION include/ptl COMPONENT development)
install(EXPORT ptlTargets NAMESPACE ptl:: DESTINATION ${cmake_folder} COMPONENT development)
configure_package_config_file(cmake/ptlConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/ptlConfig.cmake
  INSTALL_DESTINATION ${cmake_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/ptlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/PtlLibrary.cmake ${PROJECT_BINARY_DIR}/cmake/ptlConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/ptlConfigVersion.cmake DESTINATION ${cmake_folder} COMPONENT development)
configure_file(cmake/ptl.pc.in ${PROJECT_BINARY_DIR}/cmake/ptl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/ptl.pc DESTINATION lib/pkgconfig COMPONENT development)

# The language server, which starts the process of the component `compiler`.
install(TARGETS ptl-lsp RUNTIME DESTINATION bin COMPONENT server)

install(DIRECTORY runtime/python/ptl DESTINATION lib/python3/dist-packages COMPONENT python FILES_MATCHING PATTERN *.py)

install(FILES README.md CHANGELOG.md DESTINATION ${doc_folder} COMPONENT documentation)
install(FILES LICENSE DESTINATION ${doc_folder} RENAME copyright COMPONENT documentation)
install(DIRECTORY docs/ DESTINATION ${doc_folder}/docs COMPONENT documentation)
install(DIRECTORY examples DESTINATION share/ptl COMPONENT documentation)

# All that is installed.
add_custom_target(ptl_installed DEPENDS ptlc ptlc-ir ptl_rt ptl-lsp ptl_command_files $<TARGET_NAME_IF_EXISTS:ptl_torch_access>)

# Packages: `.deb` and `.tar.gz` of all that is installed.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR "the PTL authors")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and language server of PTL, the Parallel Tile Language")
set(CPACK_PACKAGE_FILE_NAME ptl-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/dist)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
# LLVM and the C++ library are inside. The release of the C library is the first that reads packed addresses (-z pack-relative-relocs).
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")
# For shared libraries, and for the Python module.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "lld | binutils, python3-numpy")
include(CPack)
