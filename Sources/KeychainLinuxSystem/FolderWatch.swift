// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Reports changes in some folders, by inotify. For a missing folder, its nearest existing ancestor
/// is watched.
package struct FolderWatch: Sendable {
    private static let changes = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB
            | IN_DELETE_SELF | IN_MOVE_SELF)
    private static let arrivals = UInt32(IN_CREATE | IN_MOVED_TO)

    private let descriptor: Descriptor
    private let folders: [String]

    package init(_ folders: [String]) throws(SystemError) {
        let number = inotify_init1(Int32(IN_CLOEXEC))
        guard number >= 0 else { throw .system(errno) }
        descriptor = Descriptor(owning: number)
        self.folders = folders
        arm()
    }

    /// Returns after a change; also after a change beside a missing folder.
    package func wait() throws(SystemError) {
        // The names in the events don't matter.
        var events = [UInt8](repeating: 0, count: 4_096)
        // Safe: reads at most the array's length.
        let count = unsafe events.withUnsafeMutableBytes {
            unsafe read(descriptor.number, $0.baseAddress, $0.count)
        }
        guard count > 0 || errno == EINTR else { throw .system(errno) }
        // Watches folders that have appeared meanwhile, and ancestors of those that have gone.
        arm()
    }

    private func arm() {
        for folder in folders {
            var place = folder
            var wanted = Self.changes
            while !add(place, wanted), let slash = place.lastIndex(of: "/"),
                slash != place.startIndex
            {
                place = String(place[..<slash])
                wanted = Self.arrivals
            }
        }
    }

    private func add(_ place: String, _ wanted: UInt32) -> Bool {
        let mask = wanted | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)
        // Safe: the path is a text that outlives the call.
        return unsafe inotify_add_watch(descriptor.number, place, mask) >= 0
    }
}
