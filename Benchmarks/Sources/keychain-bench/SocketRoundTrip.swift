// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A bare round trip of 64 bytes between two threads over a Unix socket: what no daemon can beat.
enum SocketRoundTrip {
    static func measure() {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return }
        let (near, far) = (ends[0], ends[1])
        let echo = Thread {
            var buffer = [UInt8](repeating: 0, count: 64)
            while recv(far, &buffer, 64, Int32(MSG_WAITALL)) == 64 {
                send(far, buffer, 64, 0)
            }
        }
        echo.start()
        var buffer = [UInt8](repeating: 7, count: 64)
        Measurement("socket round trip", count: 20_000) { _ in
            send(near, buffer, 64, 0)
            recv(near, &buffer, 64, Int32(MSG_WAITALL))
        }.report()
        shutdown(near, Int32(SHUT_RDWR))
    }
}
