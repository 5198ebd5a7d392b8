# SPDX-License-Identifier: Apache-2.0
#
# smp_stub_libraries(OUT): the C library as glibc 2.17 has it, for the linker only: libraries that define the symbols of
# libc_symbols.txt, with their versions and without their code. What is linked against them loads with each later glibc, and
# with musl, whatever C library the machine has that builds it. Sets OUT to their paths.

# Adds to smp_FILE_code and smp_FILE_versions of the caller.
macro(smp_stub_symbol file version symbol)
    if("${symbol}" MATCHES "^(.*):object$")
        set(symbol_name ${CMAKE_MATCH_1})
        set(symbol_type object)
    else()
        set(symbol_name ${symbol})
        set(symbol_type function)
    endif()
    string(APPEND smp_${file}_code
        ".globl ${symbol_name}\n.type ${symbol_name}, %${symbol_type}\n${symbol_name}: .zero 8\n.size ${symbol_name}, 8\n")
    list(APPEND smp_${file}_versions ${version})
    string(APPEND smp_${file}_${version} " ${symbol_name};")
endmacro()

# Reads libc_symbols.txt: its words, one after the other, are libraries, versions, and symbols of the last of both.
macro(smp_read_symbols path)
    file(STRINGS ${path} lines REGEX "^[^#]")
    string(REGEX MATCHALL "[^ ;]+" words "${lines}")
    foreach(word IN LISTS words)
        if(word MATCHES "\\.so\\.[0-9]+$")
            set(file ${word})
            list(APPEND files ${file})
        elseif(word MATCHES "^GLIBC_[0-9.]+$")
            set(version ${word})
            if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
                set(version GLIBC_2.17)
            endif()
        else()
            smp_stub_symbol(${file} ${version} ${word})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES files)
endmacro()

function(smp_stub_libraries out)
    set(symbols ${CMAKE_CURRENT_SOURCE_DIR}/libc_symbols.txt)
    set(folder ${CMAKE_BINARY_DIR}/stub-libraries)
    set(paths "")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbols})
    smp_read_symbols(${symbols})
    foreach(file IN LISTS files)
        set(versions "")
        list(REMOVE_DUPLICATES smp_${file}_versions)
        foreach(version IN LISTS smp_${file}_versions)
            string(APPEND versions "${version} {${smp_${file}_${version}} };\n")
        endforeach()
        file(GENERATE OUTPUT ${folder}/${file}.s CONTENT
            ".data\n${smp_${file}_code}.section .note.GNU-stack, \"\", %progbits\n")
        file(GENERATE OUTPUT ${folder}/${file}.map CONTENT "${versions}")
        add_custom_command(
            OUTPUT ${folder}/${file}
            COMMAND ${CMAKE_C_COMPILER} -shared -nostdlib -Wl,-soname,${file}
                    -Wl,--version-script=${folder}/${file}.map -o ${folder}/${file} ${folder}/${file}.s
            DEPENDS ${folder}/${file}.s ${folder}/${file}.map
            COMMENT "the stub of ${file}"
            VERBATIM)
        list(APPEND paths ${folder}/${file})
    endforeach()
    add_custom_target(smp_stub_libraries DEPENDS ${paths})
    set(${out} ${paths} PARENT_SCOPE)
endfunction()
