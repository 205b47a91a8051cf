// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// systemd's journal in its native form: fields that can be searched for, instead of text.
package enum Journal {
    package struct Field: Sendable, Equatable {
        /// Upper-case letters, digits and underscores.
        package let name: String
        /// Any text. A field may occur several times.
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Sends one entry. May wait for a busy journal; does nothing where there is none.
    package static func send(_ fields: [Field]) {
        let bytes = fields.map { Array("\($0.name)=\($0.value)".utf8) }
        // One run of bytes, so that no pointer outlives its closure.
        let whole = bytes.flatMap(\.self)
        // Safe: reads what the parts describe, all of it within `whole`.
        unsafe whole.withUnsafeBytes { whole in
            guard let base = whole.baseAddress else { return }
            var parts = unsafe [iovec]()
            var start = 0
            for field in bytes {
                unsafe parts.append(
                    iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: base + start),
                        iov_len: field.count))
                start += field.count
            }
            _ = unsafe sd_journal_sendv(parts, Int32(parts.count))
        }
    }
}
