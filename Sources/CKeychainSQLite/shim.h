/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>

/* Swift calls no function with an open list of arguments. SQLITE_OK where the connection runs no
   trigger and no view of the file's, and trusts no word of its schema. */
static inline int kc_distrust(sqlite3 *connection) {
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_ENABLE_VIEW};
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    for (unsigned i = 0; code == SQLITE_OK && i < sizeof off / sizeof off[0]; i++) {
        code = sqlite3_db_config(connection, off[i], 0, (int *)0);
    }
    return code;
}

/* SQLite counts the memory of all connections under one lock, which each of a process's threads
   takes for each piece. From now on it counts none. It does nothing once a connection was opened.
 */
static inline void kc_count_no_memory(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
