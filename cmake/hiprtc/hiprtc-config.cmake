# SPDX-License-Identifier: MIT
# find_package(hiprtc): run-time compilation, target hiprtc::hiprtc.
get_filename_component(_ehp_tree "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${_ehp_tree}/share/hip/ehp")
  get_filename_component(_ehp_tree "${CMAKE_CURRENT_LIST_DIR}/../../ehp/rocm" ABSOLUTE)
endif()
if(NOT TARGET hiprtc::hiprtc)
  get_filename_component(_ehp_library "${_ehp_tree}/lib/libhiprtc.so" REALPATH)
  add_library(hiprtc::hiprtc SHARED IMPORTED)
  set_target_properties(hiprtc::hiprtc PROPERTIES
    IMPORTED_LOCATION "${_ehp_library}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_INCLUDE_DIRECTORIES "${_ehp_tree}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_ehp_tree}/include")
  unset(_ehp_library)
endif()
set(hiprtc_FOUND TRUE)
unset(_ehp_tree)
