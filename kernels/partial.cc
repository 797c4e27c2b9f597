#include "kernels/partial.h"
