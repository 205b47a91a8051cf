/* SPDX-License-Identifier: Apache-2.0 */
/* For libsecret's own tests: the path that an item of the mock's has in our service, which gives
 * items paths of its own choice. The tests have calls of this where they had the mock's paths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((unused)) const char *path_of(const char *mock) {
    char line[512];
    const size_t length = strlen(mock);
    FILE *paths = fopen(getenv("LIBSECRET_TEST_PATHS"), "r");
    const char *found = mock;
    while (paths != NULL && fgets(line, sizeof line, paths) != NULL)
        if (strncmp(line, mock, length) == 0 && line[length] == ' ') {
            line[strcspn(line, "\n")] = '\0';
            found = strdup(line + length + 1);
        }
    if (paths != NULL) fclose(paths);
    return found;
}
