# Commands of other packages that examples/ calls, for gersemi (.gersemirc), which asks for their definitions.
function(nanobind_add_module name)
endfunction()
function(pybind11_add_module name)
endfunction()
