// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no snapshot to decide by. The sources are compiled again then.
public enum PolicySnapshotError: Error, Sendable, Hashable {
    case notASnapshot
    case otherVersion(UInt32)
    /// Cut off, or with something behind its end.
    case wrongLength
    case tooLong(limit: Int)
    /// The checksum doesn't fit.
    case damaged
    /// A part of it that makes no sense, by name.
    case malformed(String)
}

extension CompiledPolicy {
    /// Far above what the most rules take.
    public static let mostSnapshotBytes = 64 << 20

    /// The policy as bytes, little-endian words: what the daemon loads.
    public var snapshot: [UInt8] { Self.bytes(of: image.words) }

    static func bytes(of words: [UInt32]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 * words.count)
        for word in words {
            for shift: UInt32 in [0, 8, 16, 24] {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    /// Tells one compiled policy from another.
    public var checksum: UInt64 { image.checksum }

    /// Takes a snapshot of this version, whole and undamaged; everything that deciding follows in
    /// it is checked here once.
    public init(snapshot: [UInt8]) throws(PolicySnapshotError) {
        let image = try Self.image(snapshot)
        try ImageInspection(image).inspect()
        self.init(image)
    }

    private static func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        (0..<4).reduce(into: 0) { word, byte in
            // Safe: callers ask for words that are whole.
            word |= UInt32(bytes[place + byte]) << UInt32(8 * byte)
        }
    }

    private static func image(_ bytes: [UInt8]) throws(PolicySnapshotError) -> PolicyImage {
        guard bytes.count <= mostSnapshotBytes else { throw .tooLong(limit: mostSnapshotBytes) }
        let words = (0..<bytes.count / 4).map { Self.word(bytes, 4 * $0) }
        guard words.starts(with: PolicyImage.magic), words.count > 2 else { throw .notASnapshot }
        // Safe: there are more than two words.
        guard words[2] == PolicyImage.version else { throw .otherVersion(words[2]) }
        guard bytes.count % 4 == 0, words.count >= PolicyImage.directoryLength,
            // Safe: there are as many words as the directory has.
            Int(words[3]) == words.count
        else { throw .wrongLength }
        let image = PolicyImage(words: words)
        guard PolicyImage.checksum(words) == image.checksum else { throw .damaged }
        return image
    }
}
