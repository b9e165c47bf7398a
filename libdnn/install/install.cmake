# Installs the library, its public headers, the command and what it reads, the CMake package and dnn.pc.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dnn)
set_target_properties(dnn PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS dnn EXPORT dnnTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dnn)
# What the command reads besides; in the folder of the build it looks in share/dnn beside itself.
set(labels data/imagenet_labels.txt data/imagenet_labels.LICENSE)
foreach(file ${labels})
  get_filename_component(name ${file} NAME)
  configure_file(${file} share/dnn/${name} COPYONLY)
endforeach()
install(FILES ${labels} DESTINATION ${CMAKE_INSTALL_DATADIR}/dnn)
file(RELATIVE_PATH data_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/dnn)
target_compile_definitions(dnn_cli PRIVATE DNN_DATA_FROM_PROGRAM="${data_from_program}")

set_target_properties(dnn_cli PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
install(TARGETS dnn_cli)
install(TARGETS dnn_cuda_emulated LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT dnnTargets NAMESPACE dnn:: DESTINATION ${package_dir})
configure_package_config_file(libdnn/install/dnnConfig.cmake.in dnnConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(dnnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dnnConfig.cmake ${PROJECT_BINARY_DIR}/dnnConfigVersion.cmake
  DESTINATION ${package_dir})

# Of kernels/ only what the library's headers need or what a caller of bare kernels does.
install(DIRECTORY libdnn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dnn FILES_MATCHING PATTERN "*.h" PATTERN cli EXCLUDE PATTERN install EXCLUDE)
set(kernel_headers backend catalogue context device_api device_status dtype epilogue error half host_device openblas
  parallel params random_state shapes unary)
list(TRANSFORM kernel_headers REPLACE "(.+)" "kernels/\\1.h")
install(FILES ${kernel_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dnn/kernels)

# dnn.pc finds its prefix from its own place, so that the folder can be moved. Only a static library hands on what it
# needs itself.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
if(NOT BUILD_SHARED_LIBS)
  set(pc_requires "libhwy fmt libzip protobuf-lite zlib")
  if(DNN_OPENBLAS)
    string(APPEND pc_requires " openblas")
  endif()
  set(pc_libs -pthread)
endif()
configure_file(libdnn/install/dnn.pc.in dnn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dnn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(BUILD_SHARED_LIBS)
  install(CODE "set(dnn_libdir \"${CMAKE_INSTALL_LIBDIR}\")")
  install(SCRIPT libdnn/install/refresh_loader.cmake)
endif()
