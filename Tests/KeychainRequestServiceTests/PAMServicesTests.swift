// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainPolicyModel
@testable import PromptedAuthentication
import SystemTestSupport
import Testing

/// Which PAM services of ours a machine has, by its files.
@Suite struct PAMServicesTests {
    private let folder: ScratchFolder
    private let module: String

    init() throws {
        folder = try ScratchFolder()
        for name in ["etc", "usr"] {
            try FileManager.default.createDirectory(
                atPath: folder(name), withIntermediateDirectories: false)
        }
        module = folder.write("pam_ours.so", "", mode: 0o644)
    }

    private func write(_ name: String, _ lines: String) {
        _ = folder.write(name, lines, mode: 0o644)
    }

    private func methods() -> Set<PolicyMethod> {
        PAMServices(folders: [folder("etc"), folder("usr")]).methods()
    }

    @Test func `a service whose modules are installed proves its factor, and itself`() {
        write("etc/keychain-presence", "auth required \(module)\n")
        write("etc/login", "auth required \(module)\n")
        #expect(methods() == [.factor(.presence), .pam("keychain-presence")])
    }

    @Test func `a service of which a module is missing proves nothing`() {
        write("etc/keychain-biometry", "auth required \(module)\nauth required /no/such/pam_x.so\n")
        #expect(methods().isEmpty)
        // What a comment names is not asked for.
        write(
            "etc/keychain-biometry", "# auth required /no/such/pam_x.so\nauth required \(module)\n")
        #expect(methods() == [.factor(.biometry), .pam("keychain-biometry")])
    }

    @Test func `an administrator's file stands before the distribution's`() {
        write("usr/keychain-passcode", "auth required \(module)\n")
        #expect(methods().contains(.factor(.passcode)))
        write("etc/keychain-passcode", "auth required /no/such/pam_x.so\n")
        #expect(methods().isEmpty)
    }

    @Test func `a service of the administrator's own proves itself`() {
        write("usr/keychain-badge", "auth required \(module)\n")
        #expect(methods() == [.pam("keychain-badge")])
    }

    @Test func `a file that is too long for a service is none`() {
        let comment = "#" + String(repeating: "x", count: 64 * 1024) + "\n"
        write("etc/keychain-presence", comment + "auth required \(module)\n")
        #expect(methods().isEmpty)
    }

    @Test func `what was looked at serves for a moment`() throws {
        write("etc/keychain-presence", "auth required \(module)\n")
        let services = PAMServices(folders: [folder("etc")])
        let known = services.methods()
        try FileManager.default.removeItem(atPath: folder("etc/keychain-presence"))
        #expect(services.methods() == known && !known.isEmpty)
    }
}
