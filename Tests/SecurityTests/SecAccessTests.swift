// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

private func application(_ path: String?) -> (SecTrustedApplication?, OSStatus) {
    var made: SecTrustedApplication?
    let status = SecTrustedApplicationCreateFromPath(path, &made)
    return (made, status)
}

private func access(_ applications: [Any]?) -> (SecAccess?, OSStatus) {
    var made: SecAccess?
    let status = SecAccessCreate("a test" as NSString, applications as NSArray?, &made)
    return (made, status)
}

private func path(of application: SecTrustedApplication) -> String? {
    var data: CFData?
    guard SecTrustedApplicationCopyData(application, &data) == errSecSuccess, let data else {
        return nil
    }
    #expect((data as Data).last == 0)
    return String(decoding: (data as Data).dropLast(), as: UTF8.self)
}

@Suite struct SecAccessTests {
    private func list(of service: String) throws -> SecAccess? {
        let query = query(service).with([kSecReturnAttributes as String: true])
        let (status, result) = copyMatching(query)
        #expect(status == errSecSuccess)
        let attributes = try #require(result as? NSDictionary)
        return attributes[kSecAttrAccess] as? SecAccess
    }

    @Test func `a program is named by the file that a path leads to`() throws {
        let (shell, status) = application("/bin/sh")
        #expect(status == errSecSuccess)
        let real = URL(fileURLWithPath: "/bin/sh").resolvingSymlinksInPath().path
        #expect(path(of: try #require(shell)) == real)
        #expect(shell == application(real).0)
        #expect(shell != application("/bin/cat").0)
    }

    @Test(arguments: ["", "bin/sh", "/nonexistent/program", "/bin", "/dev/null"])
    func `what is no file is no program`(_ path: String) {
        let (made, status) = application(path)
        #expect(made == nil)
        #expect(status == errSecParam)
    }

    @Test func `no path is the calling program`() throws {
        let (own, status) = application(nil)
        #expect(status == errSecSuccess)
        #expect(
            try path(of: #require(own))
                == FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    }

    @Test func `a list is of programs and of nothing else, and not endless`() throws {
        let shell = try #require(application("/bin/sh").0)
        #expect(access([shell]).1 == errSecSuccess)
        #expect(access([]).1 == errSecSuccess)
        #expect(access(nil).1 == errSecSuccess)
        #expect(access([shell, "x"]).1 == errSecParam)
        #expect(access([Any](repeating: shell, count: 33)).1 == errSecParam)
    }

    @Test func `the classes are told apart by their types`() throws {
        let shell = try #require(application("/bin/sh").0)
        let list = try #require(access([shell]).0)
        #expect(CFGetTypeID(list) == SecAccessGetTypeID())
        #expect(CFGetTypeID(shell) == SecTrustedApplicationGetTypeID())
        #expect(SecAccessGetTypeID() != SecTrustedApplicationGetTypeID())
        #expect(CFEqual(list, access([shell]).0))
        #expect(!CFEqual(list, access([]).0))
    }

    @Test func `an item keeps its list, and gives it back to its own program`() throws {
        let service = freshService()
        let cat = try #require(application("/bin/cat").0)
        let list = try #require(access([cat]).0)
        #expect(add(password(service).with([kSecAttrAccess as String: list])) == errSecSuccess)
        #expect(try self.list(of: service) == list)
        let empty = try #require(access([]).0)
        #expect(update(query(service), [kSecAttrAccess as String: empty]) == errSecSuccess)
        #expect(try self.list(of: service) == empty)
        #expect(update(query(service), [kSecAttrLabel as String: "L"]) == errSecSuccess)
        #expect(try self.list(of: service) == empty)
    }

    @Test func `an item without a list has none`() throws {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        #expect(try list(of: service) == nil)
    }

    @Test func `a query may carry a list and means nothing by it`() throws {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        let list = try #require(access([]).0)
        #expect(copyMatching(query(service).with([kSecAttrAccess as String: list])).status == 0)
    }

    @Test func `a list goes with no rights of the other keychain`() throws {
        let list = try #require(access(nil).0)
        let rights = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        for other: [String: Any] in [
            [kSecAttrAccessControl as String: rights],
            [kSecUseDataProtectionKeychain as String: true],
            [kSecAttrSynchronizable as String: true],
        ] {
            let item = password(freshService()).with([kSecAttrAccess as String: list])
            #expect(add(item.with(other)) == errSecParam)
        }
        let both: [String: Any] = [
            kSecAttrAccess as String: list, kSecAttrAccessControl as String: rights,
        ]
        #expect(update(query(freshService()), both) == errSecParam)
        let item = password(freshService()).with([kSecAttrAccess as String: list])
        #expect(
            add(item.with([kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock]))
                == errSecSuccess)
    }

    @Test func `what is no list is refused`() {
        for value: Any in ["x", 1, NSArray(), NSNull()] {
            let item = password(freshService()).with([kSecAttrAccess as String: value])
            #expect(add(item) == errSecParam)
        }
    }
}
