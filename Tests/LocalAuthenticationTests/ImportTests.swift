// SPDX-License-Identifier: Apache-2.0
import LocalAuthentication
import Testing

/// Says no `import Security`, as sources for Apple's systems need not beside this module.
@Suite struct ImportTests {
    @Test func `Security's names come with LocalAuthentication`() {
        let query = [kSecClass: kSecClassGenericPassword] as CFDictionary
        #expect(query.count == 1 && errSecSuccess == 0)
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil) != nil)
    }
}
