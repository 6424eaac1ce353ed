// `best`: lazy Shoup multiplication in passes over columns and rows, or, with ONCE, in one that crosses memory once.

#include "common.cuh"
#include "shoup.cuh"
#include "pass.cuh"
#ifdef ONCE
#include "cluster.cuh"
#include "once.cuh"
#endif
