# SPDX-License-Identifier: Apache-2.0
# Compiler settings of every target of this project; never global, so that add_subdirectory is safe.
function(corymb_settings target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES
        CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
        -Wimplicit-fallthrough -Wundef -Wdouble-promotion)
    # g++ 12 sees overlapping copies in std::string at -O2 that do not exist (GCC bug 105651).
    target_compile_options(${target} PRIVATE
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
    # clang 19 objects to what std::stable_sort of libstdc++ 12 does inside.
    target_compile_options(${target} PRIVATE
        $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
    if(CORYMB_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(CORYMB_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${CORYMB_SANITIZE}
            -fno-omit-frame-pointer -fno-sanitize-recover=all)
        # ThreadSanitizer of g++ compiles more slowly at -O2 and runs no faster.
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CORYMB_SANITIZE STREQUAL "thread")
            target_compile_options(${target} PRIVATE -O1 -Wno-tsan) # It does not follow fences.
        endif()
        target_link_options(${target} PRIVATE -fsanitize=${CORYMB_SANITIZE})
    endif()
endfunction()

# Of code that every call of a collective goes through: it fills records of some hundred bytes. For
# an x86 of no name g++ does that with string instructions, which made a quarter of a small
# allreduce; this is about the order of instructions, not about which.
function(corymb_tune_for_small_calls target)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        target_compile_options(${target} PRIVATE -mtune=skylake)
    endif()
endfunction()

# Compilers compare headers with those that were precompiled byte by byte. ccache must not take one
# with other comments for the same.
function(corymb_precompile target header)
    target_precompile_headers(${target} PRIVATE "${header}")
    if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
        set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
            "${CMAKE_COMMAND};-E;env;CCACHE_COMMENTS=1;${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
endfunction()

# As corymb_settings, for programs in C. Sanitizers stay with the library: the C compiler may be
# another one.
function(corymb_c_settings target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wconversion -Wshadow -pedantic -pedantic-errors -Werror)
    if(CORYMB_SANITIZE)
        target_link_options(${target} PRIVATE -fsanitize=${CORYMB_SANITIZE})
    endif()
endfunction()
