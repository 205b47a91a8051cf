// SPDX-License-Identifier: Apache-2.0

/// What `/proc/PID/stat` says.
package struct ProcessStatus: Sendable, Equatable {
    package let parent: Int32
    package let processGroup: Int32
    /// The Unix session's leader.
    package let session: Int32
    /// Device number of the controlling terminal, 0 without one.
    package let ttyNumber: UInt32
    package let foregroundGroup: Int32
    /// Clock ticks since boot.
    package let startTime: UInt64

    /// The second field is a name in parentheses that may contain anything.
    init?(_ line: [UInt8]) {
        guard let close = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: line[(close + 1)...], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let parent = Int32(fields[1]), let group = Int32(fields[2]),
            let session = Int32(fields[3]), let tty = Int32(fields[4]),
            let foreground = Int32(fields[5]), let start = UInt64(fields[19])
        else { return nil }
        self.parent = parent
        processGroup = group
        self.session = session
        ttyNumber = UInt32(bitPattern: tty)
        foregroundGroup = foreground
        startTime = start
    }
}
