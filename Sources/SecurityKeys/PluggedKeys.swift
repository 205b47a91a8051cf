// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainLinuxSystem

/// The devices of the security keys that are plugged in. Of what a device says no more is read for
/// this than the description that the kernel keeps of it, and by no library: a process does it that
/// still has rights.
package enum PluggedKeys {
    private static let folder = "/sys/class/hidraw"
    private static let mostKeys = 16
    /// Another program that has one open speaks to it.
    private static let mostTries = 20
    private static let pauseMilliseconds: UInt32 = 100

    /// Those that can be opened, in the kernel's order.
    package static func open() -> [Descriptor] {
        let devices = FolderNames.all(in: folder)
            .filter(isSecurityKey)
            .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
        return devices.prefix(mostKeys).compactMap(opened)
    }

    private static func isSecurityKey(_ name: String) -> Bool {
        KernelFile.read(
            "\(folder)/\(name)/device/report_descriptor", limit: ReportDescriptor.longest
        ).map(ReportDescriptor.isSecurityKey) ?? false
    }

    private static func opened(_ name: String) -> Descriptor? {
        let path = "/dev/" + name
        Privileges.takeGroup(of: path)
        // Safe: reads the path.
        let number = unsafe Glibc.open(
            path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY)
        guard number >= 0 else { return nil }
        let device = Descriptor(owning: number)
        for _ in 0..<mostTries {
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return device }
            guard errno == EWOULDBLOCK else { return nil }
            Wait.pause(milliseconds: pauseMilliseconds)
        }
        return nil
    }
}
