# What `cmake --install` installs: the program, the public headers, libcornerturn_host, libcornerturn where the build has
# CUDA, and what lets find_package(cornerturn) and pkg-config find them. Nothing in it holds the path that it was
# installed to.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cornerturn)

# cornerturn::host is the library for host memory. It is exported by itself: who wants the GPU's alone needs none of
# what it links to.
add_library(cornerturn::host ALIAS cornerturn_host)
set_target_properties(cornerturn_host PROPERTIES
    EXPORT_NAME host VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS cornerturn_host EXPORT cornerturnHost)
install(EXPORT cornerturnHost NAMESPACE cornerturn:: FILE cornerturnHostTargets.cmake DESTINATION ${package_dir})

# cornerturn::cornerturn is that for the GPU; without CUDA, the headers that need none.
if(CORNERTURN_CUDA)
    set(library cornerturn_cuda)
    set(not_installed)
    set_target_properties(cornerturn_cuda PROPERTIES
        OUTPUT_NAME cornerturn VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
    set(library cornerturn_headers)
    set(not_installed PATTERN cuda EXCLUDE PATTERN cornerturn.h EXCLUDE)
    add_library(cornerturn_headers INTERFACE)
endif()
add_library(cornerturn::cornerturn ALIAS ${library})
set_target_properties(${library} PROPERTIES EXPORT_NAME cornerturn)
foreach(each IN ITEMS ${library} cornerturn_host)
    target_compile_features(${each} INTERFACE cxx_std_20)
    target_include_directories(${each} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

install(TARGETS cornerturn RUNTIME)
install(DIRECTORY include/cornerturn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${not_installed})
install(TARGETS ${library} EXPORT cornerturn)
install(EXPORT cornerturn NAMESPACE cornerturn:: FILE cornerturnTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/cornerturnConfig.cmake.in ${PROJECT_BINARY_DIR}/package/cornerturnConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/cornerturnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/cornerturnConfig.cmake ${PROJECT_BINARY_DIR}/package/cornerturnConfigVersion.cmake
    DESTINATION ${package_dir})

file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" up ${up})
configure_file(cmake/cornerturn_host.pc.in ${PROJECT_BINARY_DIR}/package/cornerturn_host.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/cornerturn_host.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(CORNERTURN_CUDA)
    list(GET CUDAToolkit_INCLUDE_DIRS 0 cuda_include_dir)
    # A static library leaves to its user what a shared one holds.
    if(NOT BUILD_SHARED_LIBS)
        set(needed "\${cuda_libs} -lstdc++")
    endif()
    configure_file(cmake/cornerturn.pc.in ${PROJECT_BINARY_DIR}/package/cornerturn.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/cornerturn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
