# Adds the bytes of a file to `text`, the C source that the caller writes, as the text `name`.
function(add_bytes name file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}")
  string(APPEND text "static const char ${name}[] = {\n${bytes}0x00};\n")
  set(text "${text}" PARENT_SCOPE)
endfunction()
