// SPDX-License-Identifier: Apache-2.0
#ifndef KC_FAULTS_H
#define KC_FAULTS_H

// Lets the module's call number `which` (from 1) to the system, or for memory, fail; 0 for none.
void faults_arm(int which);

// How many such calls the module has made since.
int faults_count(void);

#endif
