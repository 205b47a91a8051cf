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
}
