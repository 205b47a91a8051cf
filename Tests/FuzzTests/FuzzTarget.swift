// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes that another program has written, and what reads them here.
///
/// Its inputs lie in `Tests/Fuzz/corpus` under its name.
enum FuzzTarget: String, CaseIterable, Sendable {
    case clientMessages = "client-messages"
    case serverMessages = "server-messages"
    case frames
    case loginFrames = "login-frames"
    case keychainRecords = "keychain-records"
    case keychainFile = "keychain-file"
    case keychainRows = "keychain-rows"
    case policyImage = "policy-image"
    case yaml
    case policies
    case editors
    case helperRequests = "helper-requests"
    case imports
    case busCalls = "bus-calls"

    /// Whether the bytes mean anything. Throws where what was read is written differently; a trap
    /// ends the program.
    @discardableResult
    func read(_ bytes: [UInt8]) throws -> Bool {
        switch self {
        case .clientMessages: try Messages.readClients(bytes)
        case .serverMessages: try Messages.readServers(bytes)
        case .frames: try Frames.read(bytes)
        case .loginFrames: try LoginFrames.read(bytes)
        case .keychainRecords: try KeychainRecords.read(bytes)
        case .keychainFile: try DamagedKeychain.read(bytes)
        case .keychainRows: try ForeignRows.read(bytes)
        case .policyImage: try PolicyImages.read(bytes)
        case .yaml: try PolicyFiles.readYAML(bytes)
        case .policies: try PolicyFiles.readPolicies(bytes)
        case .editors: try Editors.read(bytes)
        case .helperRequests: try HelperRequests.read(bytes)
        case .imports: try Imports.read(bytes)
        case .busCalls: try BusCalls.read(bytes)
        }
    }

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// Of the fuzzing program.
    static let chosen: FuzzTarget? = {
        // Safe: copies a string of the environment before anything changes it.
        guard let name = unsafe getenv("FUZZER") else { return nil }
        return unsafe FuzzTarget(rawValue: String(cString: name))
    }()
}

/// A promise that an input breaks.
struct Broken: Error, CustomStringConvertible {
    let description: String
}

func require(_ holds: Bool, _ promise: @autoclosure () -> String) throws {
    guard holds else { throw Broken(description: promise()) }
}
