// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A connection to the system bus, by a libsystemd that is loaded for it.
///
/// `keychainctl` is not linked with that library, which brings six others: to load them takes a
/// seventh of a `keychainctl get`, and no command but `doctor` has a question for a bus.
@safe package final class LoadedSystemBus {
    private typealias Open = @convention(c) (UnsafeMutablePointer<OpaquePointer?>) -> Int32
    private typealias SetTimeout = @convention(c) (OpaquePointer, UInt64) -> Int32
    private typealias GetNameCredentials =
        @convention(c) (OpaquePointer, UnsafePointer<CChar>, UInt64, OpaquePointer?) -> Int32
    private typealias Close = @convention(c) (OpaquePointer) -> OpaquePointer?

    private static let library = "libsystemd.so.0"
    private static let patience: UInt64 = 5_000_000

    private let bus: OpaquePointer
    private let getNameCredentials: GetNameCredentials
    private let close: Close

    /// nil where there is no bus. The library stays loaded.
    package init?() {
        // Safe: each function is called by its type in sd-bus.h, which no library of this version
        // changes; the library makes the bus, which is freed at the end.
        guard let library = unsafe dlopen(Self.library, RTLD_NOW | RTLD_LOCAL),
            let open = unsafe dlsym(library, "sd_bus_open_system"),
            let setTimeout = unsafe dlsym(library, "sd_bus_set_method_call_timeout"),
            let getNameCredentials = unsafe dlsym(library, "sd_bus_get_name_creds"),
            let close = unsafe dlsym(library, "sd_bus_close_unref")
        else { return nil }
        var made: OpaquePointer?
        guard unsafe unsafeBitCast(open, to: Open.self)(&made) >= 0, let made = unsafe made else {
            return nil
        }
        unsafe bus = made
        unsafe self.getNameCredentials = unsafeBitCast(
            getNameCredentials, to: GetNameCredentials.self)
        unsafe self.close = unsafeBitCast(close, to: Close.self)
        _ = unsafe unsafeBitCast(setTimeout, to: SetTimeout.self)(bus, Self.patience)
    }

    // Safe: gives back the one reference that `init` made.
    deinit { unsafe _ = close(bus) }

    /// nil where the bus does not answer.
    package func hasOwner(_ name: String) -> Bool? {
        // Safe: the bus is open, the text is borrowed for the call, and no credentials are asked for.
        let result = unsafe getNameCredentials(bus, name, 0, nil)
        if result == -ENXIO { return false }
        return result >= 0 ? true : nil
    }
}
