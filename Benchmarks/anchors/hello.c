// SPDX-License-Identifier: Apache-2.0
// The least that a program costs.
#include <stdio.h>

int main(void) { return puts("hello") < 0; }
