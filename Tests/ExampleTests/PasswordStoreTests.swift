// SPDX-License-Identifier: Apache-2.0
import Security
import Testing

@Suite struct PasswordStores {
    private let store = PasswordStore(service: freshService())

    @Test func `a password is set, read, replaced, listed and removed`() throws {
        #expect(try store.password(for: "joe") == nil)
        try store.set("first", for: "joe")
        try store.set("second", for: "joe")
        try store.set("other", for: "jane")
        #expect(try store.password(for: "joe") == "second")
        #expect(try store.accounts() == ["jane", "joe"])
        #expect(try store.remove("joe"))
        #expect(try !store.remove("joe"))
        #expect(try store.accounts() == ["jane"])
    }

    @Test func `what is no text is refused in Apple's words`() throws {
        let item = password(store.service).with([kSecValueData as String: Data([0xff])])
        #expect(add(item) == errSecSuccess)
        #expect(throws: PasswordError(status: errSecDecode)) { try store.password(for: "joe") }
        #expect(!PasswordError(status: errSecDecode).description.isEmpty)
    }
}
