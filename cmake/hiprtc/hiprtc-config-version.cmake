# SPDX-License-Identifier: MIT
# The version of HIP that find_package(hip VERSION) compares with: read from the tree, so that it is in one place.
foreach(_ehp_file "${CMAKE_CURRENT_LIST_DIR}/../../../share/hip/version"
    "${CMAKE_CURRENT_LIST_DIR}/../../ehp/rocm/share/hip/version")
  if(EXISTS "${_ehp_file}")
    file(STRINGS "${_ehp_file}" _ehp_lines REGEX "^HIP_VERSION_(MAJOR|MINOR|PATCH)=")
    string(REGEX REPLACE "HIP_VERSION_[A-Z]+=" "" _ehp_lines "${_ehp_lines}")
    string(REPLACE ";" "." PACKAGE_VERSION "${_ehp_lines}")
    break()
  endif()
endforeach()
unset(_ehp_file)
unset(_ehp_lines)

if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
