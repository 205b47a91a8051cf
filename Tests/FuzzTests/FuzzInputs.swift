// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Where the inputs lie that are kept.
enum FuzzInputs {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fuzz").path

    struct Input: Sendable, CustomStringConvertible {
        let description: String
        let bytes: [UInt8]
    }

    /// By their names, in one order.
    static func kept(_ target: FuzzTarget) throws -> [Input] {
        let folder = folder + "/corpus/" + target.rawValue
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            let content = try Data(contentsOf: URL(filePath: folder + "/" + name))
            return Input(description: name, bytes: [UInt8](content))
        }
    }
}
