// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// Why bytes are no message.
package enum MessageError: Error, Equatable, Sendable {
    case malformed
    /// Of a version before this one, or after it: what its bytes mean is not known here.
    case older
    case newer
    /// Of the very first version, whose side understands nothing of a later one.
    case firstVersion
}

/// What every message begins with: 0 (1) ‖ version (1) ‖ kind (2).
///
/// The first version was Protocol Buffers, where no message begins with a zero. A refusal has the same
/// layout in every version from this one on, so that each side can be told of the other's age.
enum MessageHeader {
    static let version: UInt8 = 2

    static func append(_ kind: UInt16, to message: inout MessageWriter) {
        message.bytes.append(0)
        message.bytes.append(version)
        message.bytes.append(number: kind)
    }

    /// The version and the kind.
    static func read(
        _ message: inout MessageReader
    ) throws(MessageError) -> (version: UInt8, kind: UInt16) {
        let mark: UInt8
        do { mark = try message.bytes.byte() } catch { throw .malformed }
        guard mark == 0 else { throw .firstVersion }
        do {
            return (try message.bytes.byte(), try message.bytes.number(UInt16.self))
        } catch { throw .malformed }
    }

    /// What a body of another version comes to.
    static func check(_ other: UInt8) throws(MessageError) {
        guard other != version else { return }
        throw other < version ? .older : .newer
    }
}
