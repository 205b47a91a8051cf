// SPDX-License-Identifier: Apache-2.0

/// One thing that the doctor has looked at.
struct Finding: Encodable {
    enum State: String, Encodable {
        case fine
        /// As it may well be meant, and worth knowing.
        case note
        /// Something does not work, or is not as safe as it should be.
        case trouble
        /// Was a trouble until just now.
        case mended
    }

    let area: String
    let state: State
    let sentence: String
    /// What helps.
    let remedy: String?

    init(_ area: Area, _ state: State, _ sentence: String, remedy: String? = nil) {
        self.area = area.rawValue
        self.state = state
        self.sentence = sentence
        self.remedy = remedy
    }

    enum Area: String {
        case service = "Service"
        case machine = "Machine"
        case files = "Files"
        case keychains = "Keychains"
        case logins = "Logins"
        case policies = "Policies"
        case secrets = "Secret Service"
    }
}
