# SPDX-License-Identifier: Apache-2.0
#
# smp_link_stub_libraries(TARGET): links against the C library as glibc 2.17 has it: against libraries that define the symbols of
# libc_symbols.txt, with their versions and without their code. The result loads with each later glibc, and with musl, whatever
# C library the machine has that builds it.

# Adds to stub_FILE_code, stub_FILE_versions and stub_FILE_VERSION of the caller.
macro(smp_add_stub file version word)
    string(REGEX MATCH "^([^:]+):?(.*)$" whole "${word}")
    set(symbol ${CMAKE_MATCH_1})
    set(type ${CMAKE_MATCH_2})
    if(NOT type)
        set(type function)
    endif()
    string(APPEND stub_${file}_code
        ".globl ${symbol}\n.type ${symbol}, %${type}\n${symbol}: .zero 8\n.size ${symbol}, 8\n")
    list(APPEND stub_${file}_versions ${version})
    string(APPEND stub_${file}_${version} " ${symbol};")
endmacro()

# Each word of the list is a library, a version, or a symbol of the last of both. Sets stub_files, too.
macro(smp_read_libc_symbols path)
    file(STRINGS ${path} lines REGEX "^[^#]")
    string(REGEX MATCHALL "[^ ;]+" words "${lines}")
    foreach(word IN LISTS words)
        if(word MATCHES "\\.so\\.[0-9]+$")
            set(file ${word})
            list(APPEND stub_files ${file})
        elseif(NOT word MATCHES "^GLIBC_")
            smp_add_stub(${file} ${version} ${word})
        elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
            set(version GLIBC_2.17)
        else()
            set(version ${word})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES stub_files)
endmacro()

function(smp_link_stub_libraries target)
    set(symbols ${CMAKE_CURRENT_SOURCE_DIR}/libc_symbols.txt)
    set(folder ${CMAKE_BINARY_DIR}/stub-libraries)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols})
    smp_read_libc_symbols(${symbols})
    foreach(file IN LISTS stub_files)
        set(map "")
        list(REMOVE_DUPLICATES stub_${file}_versions)
        foreach(version IN LISTS stub_${file}_versions)
            string(APPEND map "${version} {${stub_${file}_${version}} };\n")
        endforeach()
        file(GENERATE OUTPUT ${folder}/${file}.map CONTENT "${map}")
        file(GENERATE OUTPUT ${folder}/${file}.s
             CONTENT ".data\n${stub_${file}_code}.section .note.GNU-stack, \"\", %progbits\n")
        add_custom_command(
            OUTPUT ${folder}/${file}
            COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -Wl,-soname,${file}
                    -Wl,--version-script=${folder}/${file}.map -o ${folder}/${file} ${folder}/${file}.s
            DEPENDS ${folder}/${file}.s ${folder}/${file}.map
            COMMENT "the stub of ${file}"
            VERBATIM)
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${folder}/${file})
        # Of a library's whole path CMake makes a search path in the result.
        target_link_libraries(${target} PRIVATE -l:${file})
    endforeach()
    list(TRANSFORM stub_files PREPEND ${folder}/ OUTPUT_VARIABLE paths)
    add_custom_target(smp_stub_libraries DEPENDS ${paths})
    add_dependencies(${target} smp_stub_libraries)
    target_link_options(${target} PRIVATE -nostdlib -L${folder})
    target_link_libraries(${target} PRIVATE gcc)
endfunction()
