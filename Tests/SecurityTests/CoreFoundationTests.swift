// SPDX-License-Identifier: Apache-2.0
import Security
import Testing

/// Functions of Core Foundation's, and of Security's beside the item calls.
@Suite struct CoreFoundation {
    @Test func `data is made of bytes and gives a part of them`() throws {
        let data = try #require(CFDataCreate(nil, [1, 2, 3, 4], 4))
        #expect(data as Data == Data([1, 2, 3, 4]))
        var part: [UInt8] = [0, 0]
        CFDataGetBytes(data, CFRangeMake(1, 2), &part)
        #expect(part == [2, 3])
        #expect(CFDataCreate(nil, [], 0)?.length == 0)
        #expect(CFDataCreate(nil, [1], -1) == nil)
    }

    @Test func `data that copies nothing leaves the bytes to their owner, or frees them`() throws {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 2)
        bytes.initialize(from: [1, 2], count: 2)
        var data: CFData? = CFDataCreateWithBytesNoCopy(nil, bytes, 2, kCFAllocatorNull)
        #expect(CFDataGetBytePtr(data) == UnsafePointer(bytes))
        data = nil
        #expect(bytes[1] == 2)
        bytes.deallocate()
        let own = malloc(2)!.assumingMemoryBound(to: UInt8.self)
        own.initialize(from: [3, 4], count: 2)
        let owning = CFDataCreateWithBytesNoCopy(kCFAllocatorDefault, own, 2, kCFAllocatorDefault)
        #expect(owning as Data? == Data([3, 4]))
        #expect(CFDataCreateWithBytesNoCopy(nil, own, -1, kCFAllocatorNull) == nil)
    }

    @Test(arguments: [
        CFRange(location: 3, length: 2), CFRange(location: -1, length: 2),
        CFRange(location: 0, length: -1), CFRange(location: .max, length: .max),
    ])
    func `a part that data does not have is not copied`(_ range: CFRange) {
        var part: [UInt8] = [7, 7]
        CFDataGetBytes(Data([1, 2, 3, 4]) as CFData, range, &part)
        #expect(part == [7, 7])
    }

    @Test func `booleans are told apart and read as CFBoolean`() throws {
        let dictionary = ["is": true, "isn't": false, "count": 1, "none": 0.0] as CFDictionary
        func boolean(_ key: String) throws -> Bool? {
            let value = try #require(dictionary[key]) as AnyObject
            guard CFGetTypeID(value) == CFBooleanGetTypeID() else { return nil }
            return CFBooleanGetValue((value as! CFBoolean))
        }
        #expect(try boolean("is") == true)
        #expect(try boolean("isn't") == false)
        #expect(try boolean("count") == nil)
        #expect(try boolean("none") == nil)
        #expect((dictionary["is"] as! CFBoolean) == kCFBooleanTrue)
    }

    @Test(arguments: [true, false])
    func `a boolean becomes a CFBoolean`(_ value: Bool) {
        let chosen: CFBoolean = value ? kCFBooleanTrue : kCFBooleanFalse
        #expect(CFBooleanGetValue(chosen) == value)
        #expect(CFBooleanGetValue(value as CFBoolean) == value)
        #expect(CFBooleanGetValue(true as CFBoolean))
    }

    @Test func `an error keeps what it was made of`() throws {
        let error = try #require(
            CFErrorCreate(
                kCFAllocatorDefault, NSOSStatusErrorDomain as CFErrorDomain, -50,
                [
                    NSLocalizedDescriptionKey: "what", NSLocalizedFailureReasonErrorKey: "why",
                    NSLocalizedRecoverySuggestionErrorKey: "how",
                ] as CFDictionary))
        #expect(CFErrorGetCode(error) == -50)
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorCopyDescription(error) as String == "what")
        #expect(CFErrorCopyFailureReason(error) as String == "why")
        #expect(CFErrorCopyRecoverySuggestion(error) as String == "how")
        #expect(CFErrorCopyUserInfo(error).count == 3)
        let bare = CFErrorCreate(nil, "domain" as CFErrorDomain, 1, nil)
        #expect(CFErrorCopyFailureReason(bare) == nil)
    }

    @Test func `a generated password can be typed, and no two are the same`() throws {
        let passwords = try (0..<100).map { _ in
            try #require(SecCreateSharedWebCredentialPassword()) as String
        }
        #expect(Set(passwords).count == passwords.count)
        for password in passwords {
            let groups = password.split(separator: "-", omittingEmptySubsequences: false)
            #expect(groups.map(\.count) == [3, 3, 3, 3])
            #expect(!password.contains { "0O1lI".contains($0) })
        }
    }
}
