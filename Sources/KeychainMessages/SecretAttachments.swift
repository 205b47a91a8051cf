// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// The secrets of one message, one behind the other, as the frame carries them beside it. The message
/// names their lengths, in their order.
struct SecretAttachments {
    private var secrets: [HeldSecret] = []
    /// Bytes of the first secret that were taken.
    private var taken = 0

    init(_ joined: HeldSecret? = nil) {
        if let joined { secrets = [joined] }
    }

    mutating func add(_ secret: HeldSecret) { secrets.append(secret) }

    /// nil when there is none. A single secret is carried as it is.
    func joined() -> HeldSecret? {
        guard let first = secrets.first else { return nil }
        if secrets.count == 1 { return first }
        var writer = SecretWriter(capacity: secrets.reduce(0) { $0 + $1.bytes.count })
        for secret in secrets { writer.append(secret.bytes) }
        return HeldSecret(writer.finish())
    }

    /// The next secret of a frame's second part.
    mutating func take(_ count: Int) throws(MalformedBytes) -> HeldSecret {
        let joined = secrets.first
        let length = joined?.bytes.count ?? 0
        guard count <= length - taken else { throw MalformedBytes() }
        guard let joined, count > 0 else { return HeldSecret(SecretBytes(copying: [])) }
        defer { taken += count }
        if count == length { return joined }
        return HeldSecret(joined.bytes.part(taken..<taken + count))
    }

    var isEmpty: Bool { taken == secrets.first?.bytes.count ?? 0 }
}
