// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@Suite struct PortalApplicationTests {
    @Test(arguments: ["org.example.One", "firefox", "snap.a_b", "a-1.2", "9"])
    func `an application has a name of parts, and an access group of it`(name: String) {
        #expect(PortalApplication(name)?.identifier == "portal:" + name)
    }

    @Test(arguments: [
        "", ".", "..", "a..b", ".a", "a.", "a/b", "../a", "/usr/bin/a", "a b", "a\n", "a\0", "a*",
        "exe:a", "org.example.\u{E9}",
    ])
    func `any other text is no name`(name: String) {
        #expect(PortalApplication(name) == nil)
    }

    @Test func `a name has 255 bytes at most`() {
        #expect(PortalApplication(String(repeating: "a", count: 255)) != nil)
        #expect(PortalApplication(String(repeating: "a", count: 256)) == nil)
    }
}
