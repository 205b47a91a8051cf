// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

/// The socket of a bus, by the bus's address.
enum BusSocket {
    /// What an address begins with, and the first bytes of the socket's name then.
    private static let kinds: [(prefix: String, first: [UInt8])] = [
        ("unix:path=", []), ("unix:abstract=", [0]),
    ]

    /// Connects, without waiting for a bus whose backlog is full. No read or write waits either.
    ///
    /// A bus of another user's is none: it could name any program as the one that speaks. A name that an
    /// ended bus has left can be taken by any user.
    static func connect(_ address: String) throws(BusFailure) -> Descriptor {
        guard let name = name(in: address),
            let connected = try? SocketAddress.connectAtOnce(to: name),
            let peer = try? PeerCredentials(of: connected), peer.user == geteuid()
        else { throw .unreachable }
        return connected
    }

    /// The name as the kernel has it: of an abstract one after a zero.
    static func name(in address: String) -> [UInt8]? {
        guard let kind = kinds.first(where: { address.hasPrefix($0.prefix) }) else { return nil }
        let value = address.dropFirst(kind.prefix.count).prefix { $0 != "," && $0 != ";" }
        guard let name = decoded(Array(value.utf8)), !name.isEmpty, !name.contains(0) else {
            return nil
        }
        return kind.first + name
    }

    /// Addresses may have any byte as a percent sign and two digits.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var place = 0
        while place < text.count {
            guard text[place] == UInt8(ascii: "%") else {
                bytes.append(text[place])
                place += 1
                continue
            }
            guard place + 2 < text.count,
                let byte = UInt8(
                    String(decoding: text[place + 1...place + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
            place += 3
        }
        return bytes
    }
}
