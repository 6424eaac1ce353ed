// `shivdikar`: transforms with Barrett reduction.

#include "barrett.cuh"
#include "pass.cuh"
