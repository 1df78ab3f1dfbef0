# Writes the samples into a C source, so that an installed qmctl needs no files beside it.
# cmake -DOUTPUT=FILE "-DSAMPLES=FILE;FILE..." -P embed.cmake
include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)

set(text "/* Made from config/ by config/embed.cmake. */\n#include \"config/sample.h\"\n\n")
set(rows "")
set(count 0)
foreach(file ${SAMPLES})
  get_filename_component(name ${file} NAME)
  math(EXPR count "${count} + 1")
  add_bytes(sample_${count} ${file})
  string(APPEND rows "    {\"${name}\", sample_${count}},\n")
endforeach()
string(APPEND text "\nconst struct config_sample samples[] = {\n${rows}};\nconst size_t sample_count = ${count};\n")
file(WRITE ${OUTPUT} "${text}")
