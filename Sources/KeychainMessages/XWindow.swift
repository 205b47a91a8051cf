// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// The number of an X server's window, over which a question about its program is shown. It is the
/// program's own word, and says nothing about the program.
package struct XWindow: Sendable, Hashable {
    /// An X server gives out no higher number.
    private static let highest: UInt32 = 0x1FFF_FFFF

    package let number: UInt32

    /// nil for what is no window's number; 0 stands for no window.
    package init?(_ number: UInt32) {
        guard (1...Self.highest).contains(number) else { return nil }
        self.number = number
    }

    /// What programs give to `org.freedesktop.Secret.Prompt.Prompt`: a decimal number, as libsecret
    /// asks for it, a hexadecimal one behind `0x`, or the portals' `x11:` with a hexadecimal number,
    /// before which oo7 writes another `0x`. nil for all else, as for Wayland's handles.
    package init?(handle: String) {
        var digits = handle.utf8[...]
        let isPortals = digits.starts(with: "x11:".utf8)
        if isPortals { digits = digits.dropFirst(4) }
        let isMarked = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isMarked { digits = digits.dropFirst(2) }
        // Safe: what is no number of 32 bits gives nil. Swift would take a sign, too.
        let number = UInt32(Substring(digits), radix: isPortals || isMarked ? 16 : 10)
        guard let number, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
        else { return nil }
        self.init(number)
    }
}

extension XWindow: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: number)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        guard let window = Self(try message.bytes.number(UInt32.self)) else {
            throw MalformedBytes()
        }
        self = window
    }
}
