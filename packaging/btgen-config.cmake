# find_package(btgen): btgen::usdt has <btgen/usdt.h>; btgen::sdt also has a <sys/sdt.h> of the same kind. Nothing is linked.
# -DBTGEN_USDT=OFF compiles the probes out. The directories are those beside this file, wherever it was moved to.
option(BTGEN_USDT "USDT probes of btgen/usdt.h; OFF compiles them out" ON)
if(NOT TARGET btgen::usdt)
  get_filename_component(_btgen_include "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
  add_library(btgen::usdt INTERFACE IMPORTED)
  set_target_properties(btgen::usdt PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_btgen_include}")
  if(NOT BTGEN_USDT)
    set_target_properties(btgen::usdt PROPERTIES INTERFACE_COMPILE_DEFINITIONS USDT_DISABLE)
  endif()
  add_library(btgen::sdt INTERFACE IMPORTED)
  set_target_properties(btgen::sdt PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_btgen_include}/btgen/compat"
    INTERFACE_LINK_LIBRARIES btgen::usdt)
  unset(_btgen_include)
endif()

# Until 0.3, for projects that call it: `btgen embed` was removed.
function(btgen_embed)
  message(WARNING "btgen_embed(${ARGN}) does nothing: btgen embed was removed. Keep the debug information in a separate "
    "file (objcopy --only-keep-debug, then --add-gnu-debuglink), a -dbgsym package or debuginfod.")
endfunction()
