// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux

/// What ps(1) and /proc call this process.
package enum ProcessName {
    /// Fifteen bytes of it are kept. Must be called by the first thread.
    package static func set(_ name: String) {
        // Safe: reads the name.
        unsafe kc_name_process(name)
    }
}
