# Writes OUTPUT, the source of what version.h declares, where it changed:
#   cmake -DSOURCE=DIR -DOUTPUT=FILE -DVERSION=TEXT -P version.cmake
cmake_minimum_required(VERSION 3.25)

# git archive puts the commit in place of these words (.gitattributes).
set(archived "$Format:%H$")

set(commit "")
if(NOT archived MATCHES "Format")
  string(SUBSTRING "${archived}" 0 12 commit)
elseif(EXISTS ${SOURCE}/.git) # not that of a folder around the sources
  execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0
      git describe --always --exclude=* --abbrev=12 --dirty=,\ changed
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit)
  string(APPEND VERSION " (commit ${commit})")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"server/base/version.h\"

const char program_version[] = \"@VERSION@\";
const char program_version_line[] = \"quartermaster @VERSION@\";
" @ONLY)
