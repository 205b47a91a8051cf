#include <security/pam_appl.h>
#include <shadow.h>
