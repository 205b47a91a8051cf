// SPDX-License-Identifier: Apache-2.0

// Keys for an item itself, or its secret, in a dictionary.
// Safe: each constant is set once, to a text that can't be changed.

nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"
