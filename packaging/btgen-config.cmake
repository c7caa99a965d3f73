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

# btgen_embed(TARGET...): the types of these programs' and libraries' probes stay after strip, see `btgen embed --help`.
set(_BTGEN_BIN "${CMAKE_CURRENT_LIST_DIR}/../../../bin" CACHE INTERNAL "")
function(btgen_embed)
  if(NOT BTGEN_USDT)
    return()
  endif()
  find_program(BTGEN_PROGRAM btgen HINTS "${_BTGEN_BIN}")
  if(NOT BTGEN_PROGRAM)
    message(FATAL_ERROR "btgen_embed: no program btgen")
  endif()
  foreach(target IN LISTS ARGN)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND "${CMAKE_COMMAND}" -E env "OBJCOPY=${CMAKE_OBJCOPY}" "${BTGEN_PROGRAM}" embed "$<TARGET_FILE:${target}>")
  endforeach()
endfunction()
