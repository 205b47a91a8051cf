// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Bytes between `-----BEGIN …-----` and `-----END …-----`, 64 columns wide. All bytes stay in
/// locked memory, as they may be a private key.
enum PEMText {
    private static let columns = 64
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func of(_ der: borrowing SecretBytes, _ label: String) -> SecretBytes {
        let begin = Array("-----BEGIN \(label)-----\n".utf8)
        let end = Array("-----END \(label)-----\n".utf8)
        let lines = base64(der)
        var writer = SecretWriter(capacity: begin.count + lines.count + end.count)
        writer.append(SecretBytes(copying: begin))
        writer.append(lines)
        writer.append(SecretBytes(copying: end))
        return writer.finish()
    }

    private static func base64(_ der: borrowing SecretBytes) -> SecretBytes {
        der.withBytes { bytes in
            let characters = (bytes.byteCount + 2) / 3 * 4
            let lines = (characters + columns - 1) / columns
            return SecretBytes(count: characters + lines) { (target: inout MutableRawSpan) in
                var place = 0
                var column = 0
                func put(_ byte: UInt8, _ target: inout MutableRawSpan) {
                    target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
                    place += 1
                    column += 1
                    guard column == columns, byte != UInt8(ascii: "\n") else { return }
                    target.storeBytes(
                        of: UInt8(ascii: "\n"), toByteOffset: place, as: UInt8.self)
                    place += 1
                    column = 0
                }
                for start in stride(from: 0, to: bytes.byteCount, by: 3) {
                    let count = min(3, bytes.byteCount - start)
                    var group: UInt32 = 0
                    for offset in 0..<3 {
                        group =
                            group << 8 | (offset < count ? UInt32(bytes.byte(start + offset)) : 0)
                    }
                    for offset in 0..<4 {
                        let digit = digits[Int(group >> UInt32(18 - 6 * offset) & 63)]
                        put(offset <= count ? digit : UInt8(ascii: "="), &target)
                    }
                }
                if column > 0 { put(UInt8(ascii: "\n"), &target) }
            }
        }
    }
}
