# Writes the SQL files into a C source, so that an installed program needs no files beside it.
# cmake -DOUTPUT=FILE -DSCHEMA=FILE -DFILES=FILE -DUPGRADES=FILE;FILE... -P embed.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../config/embed_bytes.cmake)

set(text "/* Made from db/schema.sql and db/upgrades/ by db/embed.cmake. */\n#include \"db/files.h\"\n#include \"db/schema.h\"\n\n")
set(rows "")
add_bytes(schema ${SCHEMA})
add_bytes(files ${FILES})
set(count 0)
foreach(file ${UPGRADES})
  get_filename_component(name ${file} NAME_WE)
  math(EXPR count "${count} + 1")
  add_bytes(upgrade_${count} ${file})
  string(APPEND rows "    {\"${name}\", upgrade_${count}},\n")
endforeach()
string(APPEND text "\nconst char *const schema_sql = schema;\nconst char *const files_sql = files;\n"
  "const struct schema_upgrade schema_upgrades[] = {\n${rows}};\n"
  "const size_t schema_upgrade_count = ${count};\n")
file(WRITE ${OUTPUT} "${text}")
