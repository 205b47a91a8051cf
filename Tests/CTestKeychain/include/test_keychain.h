// SPDX-License-Identifier: Apache-2.0
//
// Programs that link this have a keychain of their own: embedded, in a folder that goes with the
// program, of a program with the groups below. Where KEYCHAIN_HOME is set already, its keychain is
// used.
#ifndef TEST_KEYCHAIN_H
#define TEST_KEYCHAIN_H

#define TEST_KEYCHAIN_GROUPS "first.group,second.group,strange.group,model.group,model.other"

#endif
