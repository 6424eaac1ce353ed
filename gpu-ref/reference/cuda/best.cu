// `best`: lazy Shoup multiplication in passes over columns and rows.

#include "common.cuh"
#include "shoup.cuh"
#include "pass.cuh"
