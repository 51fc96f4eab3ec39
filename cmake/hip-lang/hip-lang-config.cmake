# SPDX-License-Identifier: MIT
# What CMake's HIP language links to every target that has HIP sources (CMakeHIPInformation.cmake).
get_filename_component(_ehp_tree "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${_ehp_tree}/share/hip/ehp")
  get_filename_component(_ehp_tree "${CMAKE_CURRENT_LIST_DIR}/../../ehp/rocm" ABSOLUTE)
endif()

set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")
if(NOT TARGET hip-lang::device)
  get_filename_component(_ehp_library "${_ehp_tree}/lib/libamdhip64.so" REALPATH)
  add_library(hip-lang::amdhip64 SHARED IMPORTED)
  set_target_properties(hip-lang::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_ehp_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${_ehp_tree}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_ehp_tree}/include")
  if(EXISTS "${_ehp_tree}/lib/libamdhip64.so.6")
    set_target_properties(hip-lang::amdhip64 PROPERTIES IMPORTED_SONAME "libamdhip64.so.6")
  endif()
  add_library(hip-lang::host INTERFACE IMPORTED)
  set_target_properties(hip-lang::host PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_LINK_LIBRARIES hip-lang::amdhip64)

  # Also right for a clang that CMake found by itself and that knows nothing of this tree.
  add_library(hip-lang::device INTERFACE IMPORTED)
  set_target_properties(hip-lang::device PROPERTIES
    INTERFACE_LINK_LIBRARIES hip-lang::amdhip64
    INTERFACE_INCLUDE_DIRECTORIES "${_ehp_tree}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_ehp_tree}/include"
    INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:HIP>:__HIP_ROCclr__=1>"
    INTERFACE_COMPILE_OPTIONS
      "$<$<COMPILE_LANGUAGE:HIP>:--rocm-path=${_ehp_tree}>;$<$<COMPILE_LANGUAGE:HIP>:--rocm-device-lib-path=${_ehp_tree}/amdgcn/bitcode>"
    INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link>;$<$<LINK_LANGUAGE:HIP>:--rocm-path=${_ehp_tree}>")
  unset(_ehp_library)
endif()
unset(_ehp_tree)
