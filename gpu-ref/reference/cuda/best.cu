// `best`: lazy Shoup multiplication in passes over columns and rows. With CHAINED or ONCE, one kernel crosses memory once.

#include "common.cuh"
#include "shoup.cuh"
#include "pass.cuh"
#ifdef CHAINED
#include "chained.cuh"
#endif
#ifdef ONCE
#include "cluster.cuh"
#include "once.cuh"
#endif
