// `cheddar`: transforms with signed Montgomery reduction on 32 bits.

#include "montgomery.cuh"
#include "pass.cuh"
