# SPDX-License-Identifier: Apache-2.0
#
# cmake -DFILE=in -DOUT=out.c -DNAME=name -P embed.cmake: the file's bytes as C, in name_bytes and name_size.

file(READ ${FILE} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "extern const unsigned char ${NAME}_bytes[];
extern const unsigned int ${NAME}_size;
const unsigned char ${NAME}_bytes[] = {
${bytes}
};
const unsigned int ${NAME}_size = ${size};
")
