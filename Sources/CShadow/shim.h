#include <shadow.h>
