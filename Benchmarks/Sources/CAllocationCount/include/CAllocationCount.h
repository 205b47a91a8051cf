// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How many blocks of memory the process has asked for so far.
unsigned long allocation_count(void);
