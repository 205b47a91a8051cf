// SPDX-License-Identifier: Apache-2.0
import Security
import Testing

/// What code from Apple's systems takes for granted.
@Suite struct SourceCompatibility {
    @Test func `texts of both kinds are the same key`() {
        #expect(AnyHashable("class") == AnyHashable(kSecClass))
        let keyed: [AnyHashable: Any] = [kSecClass: "genp"]
        #expect(keyed["class"] as? String == "genp")
        var dictionary: [String: Any] = [kSecClass as String: kSecClassKey]
        dictionary[String(kSecAttrLabel)] = "x"
        #expect((dictionary as CFDictionary)[kSecAttrLabel] as? String == "x")
    }

    @Test func `a dictionary goes there and back`() {
        let object: CFTypeRef = ["acct": "joe", "v_Data": Data([1])] as CFDictionary
        #expect((object as? [String: Any])?["acct"] as? String == "joe")
        #expect((object as? [CFString: Any])?[kSecValueData] as? Data == Data([1]))
        #expect((object as! NSDictionary)[kSecAttrAccount] as? String == "joe")
    }

    @Test func `objects tell their type`() throws {
        var error: Unmanaged<CFError>?
        let rights = try #require(
            SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleAlways, [], &error))
        let objects: [(CFTypeRef, CFTypeID)] = [
            ("x" as CFString, CFStringGetTypeID()), (Data() as CFData, CFDataGetTypeID()),
            (NSDate(), CFDateGetTypeID()), (kCFBooleanTrue, CFBooleanGetTypeID()),
            (NSNumber(value: 1), CFNumberGetTypeID()), (NSArray(), CFArrayGetTypeID()),
            (NSSet(), CFSetGetTypeID()), (NSDictionary(), CFDictionaryGetTypeID()),
            (rights, SecAccessControlGetTypeID()), (kCFNull, CFNullGetTypeID()),
        ]
        #expect(Set(objects.map(\.1)).count == objects.count)
        for (object, type) in objects { #expect(CFGetTypeID(object) == type) }
    }

    @Test func `data shows its bytes`() {
        let data = Data([1, 2, 3]) as CFData
        let bytes = CFDataGetBytePtr(data)!
        #expect((0..<CFDataGetLength(data)).map { bytes[$0] } == [1, 2, 3])
    }

    @Test(arguments: [0, 1, 7, 8, 9, 1000])
    func `random bytes fill what they were asked to fill`(_ count: Int) {
        var bytes = [UInt8](repeating: 0, count: count + 8)
        #expect(SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecSuccess)
        #expect(bytes.suffix(8).allSatisfy { $0 == 0 })
        if count >= 7 { #expect(bytes.prefix(count).contains { $0 != 0 }) }
    }

    @Test func `random bytes below zero are refused`() {
        var byte: UInt8 = 7
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &byte) == errSecParam)
        #expect(byte == 7)
    }

    @Test func `a pool gives back what ran in it`() {
        #expect(autoreleasepool { 7 } == 7)
    }

    @Test func `names of Core Foundation that such code also uses`() throws {
        let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(1))
        #expect(flags == .userPresence)
        #expect(String(kCFBundleIdentifierKey) == "CFBundleIdentifier")
        let information = try #require(Bundle.main.infoDictionary)
        #expect(information[String(kCFBundleNameKey)] as? String ?? "unnamed" == "unnamed")
    }

    @Test func `a source may name a trust that it never has`() {
        final class Server { var trust: SecTrust? }
        #expect(Server().trust == nil)
        #expect(CFGetTypeID(SecTrust()) == SecTrustGetTypeID())
        #expect(CFGetTypeID(Server()) != SecTrustGetTypeID())
    }

    @Test func `a call may be made for its effect alone`() {
        let item = password(freshService())
        SecItemAdd(item as CFDictionary, nil)
        #expect(add(item) == errSecDuplicateItem)
        var key = item
        key[kSecValueData as String] = nil
        SecItemUpdate(key as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary)
        SecItemCopyMatching(key as CFDictionary, nil)
        SecItemDelete(key as CFDictionary)
        #expect(delete(key) == errSecItemNotFound)
    }

    @Test func `objects are compared and counted`() {
        let rights = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil)
        let same = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil)
        #expect(CFEqual(rights, same) && CFHash(rights) == CFHash(same))
        #expect(CFEqual(kSecClass, "class" as CFString) && !CFEqual(kSecClass, kSecValueData))
        #expect(!CFEqual(kSecClass, nil) && CFEqual(nil, nil))
        #expect(CFCopyDescription(kSecClass) == "class" && CFCopyDescription(nil) == nil)
        #expect(CFArrayGetCount([1, 2] as CFArray) == 2)
        #expect(CFDictionaryGetCount([kSecClass: kSecClassKey] as CFDictionary) == 1)
        #expect(CFAbsoluteTimeGetCurrent() > 0)
    }

    @Test func `a query is built by key-value coding`() {
        let service = freshService()
        let query = NSMutableDictionary()
        query.setValue(kSecClassGenericPassword, forKey: kSecClass as String)
        query.setValue(service, forKey: kSecAttrService as String)
        query.setValue(true, forKey: kSecReturnData as String)
        query.setValue(nil, forKey: kSecReturnData as String)
        #expect(query.count == 2)
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(SecItemDelete(query) == errSecSuccess)
    }

    @Test func `a creator is four letters in a number`() {
        let creator: FourCharCode = 0x7377_6674
        let service = freshService()
        #expect(add(password(service).with([kSecAttrCreator as String: creator])) == errSecSuccess)
        let found = copyMatching(query(service).with([kSecReturnAttributes as String: true]))
        let attributes = found.result as? [String: Any]
        #expect(attributes?[kSecAttrCreator as String] as? OSType == creator)
    }

    @Test func `a table forgets the objects that have no other owner`() {
        final class Token {}
        let table = NSMapTable<NSString, Token>.strongToWeakObjects()
        var token: Token? = Token()
        table.setObject(token, forKey: "a" as NSString)
        #expect(table.object(forKey: NSString(string: "a")) === token)
        #expect(table.count == 1)
        token = nil
        #expect(table.object(forKey: "a" as NSString) == nil)
        #expect(table.count == 0)
    }

    @Test func `a table that holds its objects keeps them until they are removed`() {
        let table = NSMapTable<NSNumber, NSObject>.strongToStrongObjects()
        for number in 1...3 { table.setObject(NSObject(), forKey: NSNumber(value: number)) }
        #expect(table.object(forKey: 2) != nil)
        table.setObject(nil, forKey: 2)
        table.removeObject(forKey: 3)
        #expect(table.object(forKey: 2) == nil)
        #expect(table.count == 1)
        table.removeAllObjects()
        #expect(table.count == 0)
    }
}
