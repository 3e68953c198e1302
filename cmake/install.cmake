# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: headers, the shared library, the CMake package, the pkg-config
# file and the gallery of machine models. Everything is found relative to itself, so that the
# installed folder can be moved.
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/corymb")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS corymb EXPORT corymb_targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
        NAMELINK_COMPONENT development)
install(EXPORT corymb_targets NAMESPACE corymb:: DESTINATION "${package_folder}"
        COMPONENT development FILE corymb-targets.cmake)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/corymb-config.cmake.in"
    "${PROJECT_BINARY_DIR}/corymb-config.cmake" INSTALL_DESTINATION "${package_folder}")
# Before 1.0 a minor version may change interfaces.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/corymb-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/corymb-config.cmake"
    "${PROJECT_BINARY_DIR}/corymb-config-version.cmake"
    DESTINATION "${package_folder}" COMPONENT development)

file(RELATIVE_PATH corymb_prefix_of_pc "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/corymb.pc.in" "${PROJECT_BINARY_DIR}/corymb.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/corymb.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/machines/"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/corymb/machines" COMPONENT runtime)
