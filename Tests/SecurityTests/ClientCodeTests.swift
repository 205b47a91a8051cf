// SPDX-License-Identifier: Apache-2.0
import Security
import Testing

/// Dictionaries in every form in which programs build them, and results as they take them apart.
@Suite struct ClientCode {
    private static let secret = Data("secret".utf8)

    @Test func `a query is a Swift dictionary of any make`() throws {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        let hashable: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecReturnData as String: true, kSecMatchLimit as String: 1,
        ]
        let objects: [NSString: NSObject] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service as NSString,
            kSecReturnData: kCFBooleanTrue,
        ]
        let references: [String: AnyObject] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service as AnyObject,
            kSecReturnData as String: true as AnyObject,
        ]
        let optional: [String: Any?] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecReturnData as String: kCFBooleanTrue,
        ]
        let named: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecReturnData: true,
        ]
        let queries: [CFDictionary] = [
            hashable as CFDictionary, objects as CFDictionary, references as CFDictionary,
            optional as CFDictionary, named as CFDictionary, NSDictionary(dictionary: named),
            NSMutableDictionary(dictionary: references),
        ]
        for query in queries {
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess, "\(query)")
            #expect(result as? Data == Self.secret)
        }
    }

    @Test func `a query is built of objects and keys`() {
        let service = freshService()
        let query = NSMutableDictionary(
            objects: [kSecClassGenericPassword, service, "joe", Self.secret],
            forKeys: [kSecClass, kSecAttrService, kSecAttrAccount, kSecValueData])
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        query.removeObject(forKey: kSecValueData)
        query.setObject(kCFBooleanTrue!, forKey: kSecReturnData as NSCopying)
        query.setObject(kSecMatchLimitOne, forKey: kSecMatchLimit)
        query[kSecReturnAttributes] = false
        var result: AnyObject?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        #expect((result as? NSData)?.isEqual(to: Self.secret) == true)
    }

    @Test func `a value that is nil is refused, not overlooked`() {
        let account: String? = nil
        let item: [String: Any?] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
            kSecAttrService as String: freshService(),
        ]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecParam)
        #expect(SecItemDelete(item as CFDictionary) == errSecParam)
        #expect(add(password(freshService()).with(["acct": account as Any])) == errSecParam)
    }

    @Test func `a part of data or of text is what it shows`() {
        let service = freshService()
        let bytes = Data("a secret".utf8)
        let item = password(service).with([kSecValueData as String: bytes[2...]])
        #expect(add(item) == errSecSuccess)
        let found = copyMatching(query(service).with([kSecReturnData as String: true]))
        #expect(found.result as? Data == Self.secret)
        let account = [kSecAttrAccount as String: "joe smith".prefix(3)]
        #expect(delete(query(service).with(account)) == errSecSuccess)
    }

    enum Account: String { case joe }

    @Test func `Swift's own values are no attributes`() throws {
        let values: [Any] = [
            Account.joe, [UInt8](Self.secret), try #require(URL(string: "https://example.org")),
            Character("j"), (1, 2), Account?.none as Any,
        ]
        for value in values {
            let service = freshService()
            #expect(add(password(service).with(["acct": value])) == errSecParam, "\(value)")
            #expect(add(password(service).with(["v_Data": value])) == errSecParam, "\(value)")
            #expect(copyMatching(query(service).with(["acct": value])).status == errSecParam)
        }
    }

    @Test func `attributes are taken apart in every form`() throws {
        let service = freshService()
        #expect(add(password(service).with([kSecAttrIsInvisible as String: true])) == errSecSuccess)
        let found = copyMatching(
            query(service).with([
                kSecReturnAttributes as String: true, kSecReturnPersistentRef as String: true,
                kSecMatchLimit as String: kSecMatchLimitAll,
            ]))
        let result = found.result
        #expect((result as? [[String: Any]])?.first?["acct"] as? String == "joe")
        #expect((result as? [[AnyHashable: Any]])?.first?[kSecAttrAccount] as? String == "joe")
        #expect((result as? [[AnyHashable: Any]])?.first?["acct"] as? String == "joe")
        #expect((result as? [[CFString: Any]])?.first?[kSecAttrAccount] as? String == "joe")
        #expect((result as? [[CFString: AnyHashable]])?.first?[kSecAttrAccount] as? String == "joe")
        #expect((result as? [[String: AnyHashable]])?.first?["acct"] as? String == "joe")
        #expect((result as? [[String: AnyObject]])?.first?["acct"] as? String == "joe")
        #expect((result as? [NSDictionary])?.first?[kSecAttrAccount] as? String == "joe")
        #expect((result as? NSArray)?.count == 1)
        let object = try #require(result)
        #expect(CFGetTypeID(object) == CFArrayGetTypeID())
        #expect(CFArrayGetCount((object as! CFArray)) == 1)
        for case let item as [String: Any] in object as! NSArray {
            #expect(item["invi"] as? Bool == true)
            #expect(item["invi"] as? Int == 1)
            #expect((item["invi"] as? NSNumber)?.boolValue == true)
            #expect(item["sync"] as? Bool == false)
            #expect(item["cdat"] as? Date != nil && item["cdat"] as? NSDate != nil)
            #expect(CFGetTypeID(item["accc"] as CFTypeRef) == SecAccessControlGetTypeID())
            #expect((item["v_PersistentRef"] as? Data)?.count == 20)
        }
    }

    @Test func `a found item is a query for itself`() throws {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        let found = copyMatching(query(service).with([kSecReturnAttributes as String: true]))
        var again = try #require(found.result as? [String: AnyHashable])
        again["sha1"] = nil
        again[kSecClass as String] = kSecClassGenericPassword
        again[kSecReturnData as String] = true
        var data: CFTypeRef?
        #expect(SecItemCopyMatching(again as CFDictionary, &data) == errSecSuccess)
        #expect(data as? Data == Self.secret)
    }

    @Test func `an error of rights is thrown as it comes`() {
        func rights(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
            var error: Unmanaged<CFError>?
            guard
                let rights = SecAccessControlCreateWithFlags(
                    kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, flags, &error)
            else { throw error!.takeRetainedValue() as Error }
            return rights
        }
        #expect(throws: Never.self) { try rights([.or, .biometryAny, .devicePasscode]) }
        do {
            _ = try rights([.and, .or])
            Issue.record("rights that contradict themselves")
        } catch let error as NSError {
            #expect(error.code == Int(errSecParam) && error.domain == NSOSStatusErrorDomain)
            #expect(CFErrorGetCode(error) == CFIndex(errSecParam))
            #expect(!error.localizedDescription.isEmpty)
        }
    }

    @Test func `a search may be named by a function that a program passes on`() {
        typealias Search = (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
        let (search, remove): (Search, (CFDictionary) -> OSStatus) = (
            SecItemCopyMatching, SecItemDelete
        )
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        let query = query(service).with([kSecReturnData as String: true]) as CFDictionary
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            search(query, UnsafeMutablePointer($0))
        }
        #expect(status == noErr && result as? Data == Self.secret)
        #expect(remove(query) == errSecSuccess)
        #expect(search(query, nil) == errSecItemNotFound)
    }
}
