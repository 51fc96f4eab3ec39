# SPDX-License-Identifier: MIT
# find_package(hip): targets hip::amdhip64, hip::host and hip::device over EHP's headers and runtime.
cmake_minimum_required(VERSION 3.10...3.30)

# This file is either in EHP's ROCm-shaped tree or beside it in the installation's library directory.
get_filename_component(_ehp_tree "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${_ehp_tree}/share/hip/ehp")
  get_filename_component(_ehp_tree "${CMAKE_CURRENT_LIST_DIR}/../../ehp/rocm" ABSOLUTE)
endif()
if(NOT EXISTS "${_ehp_tree}/share/hip/ehp")
  set(hip_FOUND FALSE)
  set(hip_NOT_FOUND_MESSAGE "EHP's tree is missing: neither ../../.. nor ../../ehp/rocm of ${CMAKE_CURRENT_LIST_DIR}")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/hip-config-version.cmake")
set(hip_VERSION "${PACKAGE_VERSION}")
string(REPLACE "." ";" _ehp_version "${PACKAGE_VERSION}")
list(GET _ehp_version 0 hip_VERSION_MAJOR)
list(GET _ehp_version 1 hip_VERSION_MINOR)
list(GET _ehp_version 2 hip_VERSION_PATCH)
set(HIP_VERSION "${hip_VERSION}")
set(HIP_VERSION_MAJOR "${hip_VERSION_MAJOR}")
set(HIP_VERSION_MINOR "${hip_VERSION_MINOR}")
set(HIP_VERSION_PATCH "${hip_VERSION_PATCH}")

set(hip_INCLUDE_DIR "${_ehp_tree}/include")
set(hip_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIR "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(hip_LIB_INSTALL_DIR "${_ehp_tree}/lib")
set(hip_BIN_INSTALL_DIR "${_ehp_tree}/bin")
set(hip_LIBRARY hip::amdhip64)
set(hip_LIBRARIES hip::host hip::device)
set(HIP_LIBRARY hip::amdhip64)
set(HIP_LIBRARIES hip::host hip::device)
set(HIP_PLATFORM amd)
set(HIP_RUNTIME rocclr)
set(HIP_COMPILER clang)
set(HIP_HIPCC_EXECUTABLE "${_ehp_tree}/bin/hipcc")
set(HIP_HIPCONFIG_EXECUTABLE "${_ehp_tree}/bin/hipconfig")
set(hip_HIPCC_EXECUTABLE "${HIP_HIPCC_EXECUTABLE}")
set(hip_HIPCONFIG_EXECUTABLE "${HIP_HIPCONFIG_EXECUTABLE}")

# The processors to compile for: these two variables have been ROCm's for a long time.
set(GPU_TARGETS "gfx942" CACHE STRING "GPU targets to compile for")
set(AMDGPU_TARGETS "${GPU_TARGETS}" CACHE STRING "AMD GPU targets to compile for")

if(NOT TARGET hip::amdhip64)
  # A link leads from the tree to the library; its directory goes into programs' run path.
  get_filename_component(_ehp_library "${_ehp_tree}/lib/libamdhip64.so" REALPATH)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_ehp_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}")
  if(EXISTS "${_ehp_tree}/lib/libamdhip64.so.6")
    set_target_properties(hip::amdhip64 PROPERTIES IMPORTED_SONAME "libamdhip64.so.6")
  endif()

  add_library(hip::hip-host INTERFACE IMPORTED)
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES
    INTERFACE_LINK_LIBRARIES hip::amdhip64
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}")
  set_target_properties(hip::hip-host PROPERTIES INTERFACE_LINK_LIBRARIES hip::host)

  # C++ sources of a target that links hip::device are compiled as HIP, as ROCm's package has it. hipcc as the
  # compiler does that of itself, but takes the same options. A compiler that is no clang cannot: its sources may
  # call the runtime, and kernels belong into sources of the HIP language.
  add_library(hip::device INTERFACE IMPORTED)
  set_target_properties(hip::device PROPERTIES INTERFACE_LINK_LIBRARIES "hip::host")
  if(CMAKE_CXX_COMPILER_ID AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(STATUS "EHP: ${CMAKE_CXX_COMPILER} cannot compile kernels in C++ sources; "
      "-DCMAKE_CXX_COMPILER=${_ehp_tree}/bin/hipcc can, and so can CMake's HIP language")
  else()
    set(_ehp_compile "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-x hip>")
    foreach(_ehp_arch IN LISTS GPU_TARGETS)
      list(APPEND _ehp_compile "$<$<COMPILE_LANGUAGE:CXX>:--offload-arch=${_ehp_arch}>")
    endforeach()
    set_target_properties(hip::device PROPERTIES
      INTERFACE_COMPILE_OPTIONS "${_ehp_compile}"
      INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:CXX>:--hip-link>")
    if(CMAKE_CXX_COMPILER AND NOT CMAKE_CXX_COMPILER MATCHES "hipcc|/llvm/bin/(amd)?clang")
      # A clang that is not ours has to be told where things are.
      set_property(TARGET hip::device APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
        "$<$<COMPILE_LANGUAGE:CXX>:--rocm-path=${_ehp_tree}>"
        "$<$<COMPILE_LANGUAGE:CXX>:--rocm-device-lib-path=${_ehp_tree}/amdgcn/bitcode>")
      set_property(TARGET hip::device APPEND PROPERTY INTERFACE_LINK_OPTIONS
        "$<$<LINK_LANGUAGE:CXX>:--rocm-path=${_ehp_tree}>")
    endif()
  endif()
  unset(_ehp_compile)
  unset(_ehp_library)
endif()

# The macros hip_add_executable() and hip_add_library() of older projects come with their own find module.
list(FIND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}" _ehp_known)
if(_ehp_known EQUAL -1)
  list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
endif()
unset(_ehp_known)
unset(_ehp_version)
set(hip_FOUND TRUE)
set(HIP_FOUND TRUE)
