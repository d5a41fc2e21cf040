#include "cache/cache.h"
