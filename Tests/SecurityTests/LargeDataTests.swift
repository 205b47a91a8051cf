// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

@Suite struct LargeData {
    /// Foundation looks for this where it makes a `Data` of an `NSData`, and takes the bytes one by
    /// one without it.
    @Test func `data is taken as a whole on its way between the two kinds of it`() throws {
        let bytes = [1, 2, 3] as [UInt8]
        let object: AnyObject = Data(bytes) as NSData
        let contiguous = try #require(object as? any ContiguousBytes)
        #expect(contiguous.withUnsafeBytes { Array($0) } == bytes)
        #expect(object as? Data == Data(bytes))
        #expect((NSData() as AnyObject) as? Data == Data())
        #expect((NSMutableData(data: Data(bytes)) as AnyObject) as? Data == Data(bytes))
    }

    @Test func `the largest secret there may be comes back whole`() throws {
        let service = freshService()
        let secret = Data((0..<32 * 1024 * 1024).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        #expect(add(password(service).with(["v_Data": secret])) == errSecSuccess)
        let found = copyMatching(query(service).with(["r_Data": true]))
        #expect(found.result as? Data == secret)
        #expect(delete(query(service)) == errSecSuccess)
    }

    @Test func `a delete that is told to take all takes all`() {
        let service = freshService()
        for account in ["a", "b"] { #expect(add(password(service, account: account)) == 0) }
        let all = [kSecMatchLimit as String: kSecMatchLimitAll]
        #expect(delete(query(service).with([kSecMatchLimit as String: 1])) == errSecParam)
        #expect(delete(query(service).with(all)) == errSecSuccess)
        #expect(copyMatching(query(service)).status == errSecItemNotFound)
    }
}
