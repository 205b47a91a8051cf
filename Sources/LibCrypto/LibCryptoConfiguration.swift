// SPDX-License-Identifier: Apache-2.0
internal import CCrypto

/// What the machine's administrator wrote for libcrypto.
package enum LibCryptoConfiguration {
    /// Has the library read it now, and not with the first use, for a process that will open no file
    /// any more. Where it can't be read the library has its defaults.
    package static func load() {
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil)
    }
}
