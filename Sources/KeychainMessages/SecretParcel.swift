// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// The secrets of one message, one behind the other, as the frame carries them.
struct SecretParcel {
    private(set) var secrets: [HeldSecret] = []

    mutating func add(_ secret: HeldSecret) { secrets.append(secret) }

    var lengths: [UInt32] { secrets.map { UInt32(clamping: $0.bytes.count) } }

    /// nil when there is none. A single secret is carried as it is.
    func joined() -> HeldSecret? {
        guard let first = secrets.first else { return nil }
        if secrets.count == 1 { return first }
        var writer = SecretWriter(capacity: secrets.reduce(0) { $0 + $1.bytes.count })
        for secret in secrets { writer.append(secret.bytes) }
        return HeldSecret(writer.finish())
    }

    /// Takes a frame's second part apart again.
    static func split(
        _ joined: HeldSecret?, lengths: [UInt32]
    ) throws(MessageError) -> [HeldSecret] {
        let total = lengths.reduce(0) { $0 + Int(clamping: $1) }
        guard total == joined?.bytes.count ?? 0 else { throw .secretsDoNotFit }
        guard let joined else { return lengths.map { _ in HeldSecret(SecretBytes(copying: [])) } }
        if lengths.count == 1 { return [joined] }
        var start = 0
        return lengths.map { length in
            defer { start += Int(clamping: length) }
            return HeldSecret(joined.bytes.part(start..<start + Int(clamping: length)))
        }
    }
}
