# SPDX-License-Identifier: Apache-2.0

# The gallery of machines; data_directory() finds it beside the installed library.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/machines" DESTINATION "${CMAKE_INSTALL_DATADIR}/corymb")
