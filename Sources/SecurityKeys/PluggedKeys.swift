// SPDX-License-Identifier: Apache-2.0
internal import CFIDO2

extension SecurityKey {
    private static let mostKeys = 16

    /// Those that are plugged in and can be opened, in the kernel's order.
    package static func plugged() -> [SecurityKey] {
        fido_init(FIDO_DISABLE_U2F_FALLBACK)
        var list = unsafe fido_dev_info_new(mostKeys)
        guard let first = unsafe list else { return [] }
        // Safe: it is ours, of that length, and freed once.
        defer { unsafe fido_dev_info_free(&list, mostKeys) }
        var found = 0
        guard unsafe fido_dev_info_manifest(first, mostKeys, &found) == FIDO_OK else { return [] }
        return (0..<found).compactMap { place in
            guard let information = unsafe fido_dev_info_ptr(first, place),
                let device = unsafe fido_dev_new_with_info(information)
            else { return nil }
            guard unsafe fido_dev_open_with_info(device) == FIDO_OK else {
                var device: OpaquePointer? = unsafe device
                unsafe fido_dev_free(&device)
                return nil
            }
            return unsafe SecurityKey(opened: device)
        }
    }
}
