# SPDX-License-Identifier: LGPL-2.1-or-later
# Write a style sheet and a script into a source in C, each with the hash that the Content Security
# Policy of the page has. cmake -DSTYLE=FILE -DSCRIPT=FILE -DOUT=FILE -P embed.cmake

# The digest of a file in base64: three bytes, which are six digits, make four characters.
function(digest_of file result)
	set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
	set(text "")
	file(SHA256 ${file} digits)
	# 32 bytes lack one to be whole threes
	string(APPEND digits "00")
	foreach(at RANGE 0 60 6)
		string(SUBSTRING ${digits} ${at} 6 part)
		foreach(shift 18 12 6 0)
			math(EXPR index "(0x${part} >> ${shift}) & 63")
			string(SUBSTRING ${alphabet} ${index} 1 character)
			string(APPEND text ${character})
		endforeach()
	endforeach()
	string(REGEX REPLACE ".$" "=" text ${text})
	set(${result} ${text} PARENT_SCOPE)
endfunction()

set(source "/* Made by tools/html/embed.cmake. */\n#include \"html_page.h\"\n")
foreach(name STYLE SCRIPT)
	string(TOLOWER ${name} lower)
	file(READ ${${name}} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	# lines of at most 16 bytes
	string(REGEX REPLACE "(................................................................................)"
		"\\1\n" bytes "${bytes}")
	digest_of(${${name}} digest)
	string(APPEND source "const char html_${lower}[] = {\n${bytes}0\n};\n"
		"const char html_${lower}_hash[] = \"${digest}\";\n")
endforeach()
file(WRITE ${OUT} "${source}")
