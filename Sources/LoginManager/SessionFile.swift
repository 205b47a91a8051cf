// SPDX-License-Identifier: Apache-2.0

/// What logind writes to a session's file, with facts that its library does not offer.
///
/// A session's controller can give the display any name (SetDisplay), also one of several lines.
/// Facts that logind writes above the display count only there, and of those below it the last one.
struct SessionFile {
    private let lines: ArraySlice<Substring>
    private let linesAboveDisplay: ArraySlice<Substring>

    init(_ text: String) {
        lines = text.split(separator: "\n")[...]
        linesAboveDisplay = lines.prefix { !$0.hasPrefix("DISPLAY=") }
    }

    /// The type with which the session began, since the present one is its controller's word
    /// (SetType). Before version 246 logind has one type, which no program of the user can change.
    var type: String? {
        let above = linesAboveDisplay
        return Self.value("ORIGINAL_TYPE", in: above) ?? Self.value("TYPE", in: above)
    }

    var seat: String? { Self.value("SEAT", in: linesAboveDisplay) }

    /// The process that opened the session.
    var leader: Int32? { Self.value("LEADER", in: lines).flatMap { Int32($0) } }

    /// The name on the bus of the program that controls the session's screen and keyboard.
    var controller: String? { Self.value("CONTROLLER", in: lines) }

    private static func value(_ name: String, in lines: ArraySlice<Substring>) -> String? {
        lines.last { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
}
