// SPDX-License-Identifier: Apache-2.0
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void kc_close(int descriptor) {
    int error = errno;
    if (descriptor >= 0) (void)close(descriptor);
    errno = error;
}

int kc_above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    kc_close(descriptor);
    return moved;
}
