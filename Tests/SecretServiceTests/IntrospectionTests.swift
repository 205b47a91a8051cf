// SPDX-License-Identifier: Apache-2.0
@testable internal import SecretService
internal import Testing

@Suite struct IntrospectionTests {
    @Test(arguments: [
        ("collection/login", "readwrite"), ("aliases/default", "readwrite"),
        ("collection/session", "read"), ("aliases/session", "read"),
    ])
    func `the label of the collection in memory can't be set`(path: String, access: String) throws {
        let object = try #require(ObjectPath(ObjectPath.root + "/" + path))
        let document = Introspection.document(of: object, children: [])
        #expect(document.contains("name=\"Label\" type=\"s\" access=\"\(access)\""))
    }
}
