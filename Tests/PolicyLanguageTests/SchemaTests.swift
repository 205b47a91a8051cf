// SPDX-License-Identifier: Apache-2.0
import Foundation
import PolicyLanguage
import Testing

struct SchemaTests {
    @Test func `the published schema is the one that the language has`() throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let published = try String(
            contentsOf: top.appending(path: "Policies/schema.json"), encoding: .utf8)
        // To publish it anew: keychainctl policy schema >Policies/schema.json
        #expect(published == PolicySchema.text)
    }
}
