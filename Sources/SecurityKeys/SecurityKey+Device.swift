// SPDX-License-Identifier: Apache-2.0
internal import CFIDO2
internal import Glibc
package import KeychainLinuxSystem

extension SecurityKey {
    /// Speaks to the key whose device that is. nil where what answers is none.
    package convenience init?(on device: Descriptor) {
        fido_init(FIDO_DISABLE_U2F_FALLBACK)
        guard let made = unsafe fido_dev_new() else { return nil }
        var functions = Self.functions
        // Safe: the library copies the functions and reads the path, which is the descriptor's number.
        guard unsafe fido_dev_set_io_functions(made, &functions) == FIDO_OK,
            unsafe fido_dev_open(made, String(device.number)) == FIDO_OK
        else {
            var made: OpaquePointer? = unsafe made
            unsafe fido_dev_free(&made)
            return nil
        }
        unsafe self.init(opened: made, on: device)
    }

    /// What libfido2 does with a device of USB, on a descriptor that is open already. The handle is
    /// its number, no address. Reports have 64 bytes, which the library takes for granted here.
    private static var functions: fido_dev_io_t {
        unsafe fido_dev_io_t(
            open: { path in
                // Safe: the text is the one of `init`.
                unsafe path.flatMap { unsafe Int(String(cString: $0)) }
                    .flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
            },
            // The descriptor's owner closes it.
            close: { _ in },
            read: { device, buffer, size, milliseconds in
                let number = unsafe SecurityKey.number(device)
                // Safe: one element, and the library's buffer, which has so many bytes.
                guard SecurityKey.hasReport(number, milliseconds) else { return -1 }
                return Int32(unsafe Glibc.read(number, buffer, size))
            },
            write: { device, bytes, size in
                // Safe: as above.
                Int32(unsafe Glibc.write(SecurityKey.number(device), bytes, size))
            })
    }

    /// The pointer is not followed.
    private static func number(_ handle: UnsafeMutableRawPointer?) -> Int32 {
        Int32(truncatingIfNeeded: UInt(bitPattern: handle))
    }

    /// Waits for as long as the library says, or for ever where that is less than zero.
    private static func hasReport(_ device: Int32, _ milliseconds: Int32) -> Bool {
        let deadline = milliseconds < 0 ? nil : BootTime.now + .milliseconds(milliseconds)
        do throws(SystemError) {
            try Wait.until(Wait.input, device, deadline: deadline)
            return true
        } catch { return false }
    }
}
