// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// The certificates and keys of an imported file, as `security-certificates` returns them: each
/// with the attributes of its item and the bytes that the item stores.
package struct ObjectsOfFile: Sendable {
    package enum Problem: UInt8, Sendable {
        case none = 0
        case unknownFormat = 1
        /// A key encrypted with a passphrase, such as PKCS #12.
        case encrypted = 2
        /// A known form that can't be read here.
        case unsupported = 3
        case tooLarge = 4
        /// A folder, or a file on a failing disk.
        case unreadable = 5
    }

    package struct Object: Sendable {
        package let itemClass: ItemClass
        package let attributes: Attributes
        package let secret: HeldSecret

        package init(_ itemClass: ItemClass, _ attributes: Attributes, _ secret: HeldSecret) {
            self.itemClass = itemClass
            self.attributes = attributes
            self.secret = secret
        }
    }

    package static let largestFile = 1024 * 1024

    package let problem: Problem
    package let objects: [Object]

    package init(_ problem: Problem, _ objects: [Object] = []) {
        self.problem = problem
        self.objects = objects
    }

    /// A length (4) and that many bytes that are no secret; then the secrets, one after the other.
    package func encoded() -> SecretBytes {
        var message = ByteWriter(capacity: 4096)
        message.append(problem.rawValue)
        message.append(count: objects.count)
        for object in objects {
            message.append(object.itemClass.rawValue)
            message.append(object.attributes)
            message.append(count: object.secret.bytes.count)
        }
        var head = ByteWriter(capacity: 4 + message.bytes.count)
        head.append(block: message.bytes)
        let secrets = objects.reduce(0) { $0 + $1.secret.bytes.count }
        var writer = SecretWriter(capacity: head.bytes.count + secrets)
        writer.append(SecretBytes(copying: head.bytes))
        for object in objects { writer.append(object.secret.bytes) }
        return writer.finish()
    }

    package init(_ answer: borrowing SecretBytes) throws(MalformedBytes) {
        let length = try Self.number(answer)
        guard length >= 0, length <= answer.count - 4 else { throw MalformedBytes() }
        let message = answer.withBytes { bytes in (4..<4 + length).map { bytes.byte($0) } }
        var reader = ByteReader(message)
        guard let problem = Problem(rawValue: try reader.byte()) else { throw MalformedBytes() }
        var place = 4 + length
        var objects: [Object] = []
        for _ in 0..<(try reader.count(ofAtLeast: 9)) {
            guard let itemClass = ItemClass(rawValue: try reader.byte()) else {
                throw MalformedBytes()
            }
            let attributes = try reader.attributes()
            let count = Int(try reader.number(UInt32.self))
            guard count <= answer.count - place else { throw MalformedBytes() }
            let secret = HeldSecret(answer.part(place..<place + count))
            objects.append(Object(itemClass, attributes, secret))
            place += count
        }
        guard reader.isAtEnd, place == answer.count else { throw MalformedBytes() }
        self.init(problem, objects)
    }

    private static func number(_ answer: borrowing SecretBytes) throws(MalformedBytes) -> Int {
        guard answer.count >= 4 else { throw MalformedBytes() }
        var reader = ByteReader(answer.withBytes { bytes in (0..<4).map { bytes.byte($0) } })
        return Int(try reader.number(UInt32.self))
    }
}
