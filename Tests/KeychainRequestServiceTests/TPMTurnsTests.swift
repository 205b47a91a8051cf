// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainItemStore
import KeychainModel
import KeychainPolicyModel
import KeychainSecrets
@testable import KeychainVaults
import Testing

/// A TPM that answers when it is told to.
private final class SlowTPM: TPMSealer {
    let hasBegun = DispatchSemaphore(value: 0)
    let goesOn = DispatchSemaphore(value: 0)

    func seal(
        _ key: HeldSecret, registers: [UInt8], for user: UInt32
    ) throws(RequestError) -> [UInt8] {
        key.bytes.copy().releasedFromLockedMemory()
    }

    func open(_ sealed: [UInt8], for user: UInt32) throws(RequestError) -> HeldSecret {
        hasBegun.signal()
        goesOn.wait()
        return HeldSecret(SecretBytes(copying: sealed))
    }
}

/// The machine's one TPM serves all users.
@Suite struct TPMTurnsTests {
    private let world: ServiceInMemory
    private let tpm = SlowTPM()
    private let protectors: Protectors

    init() throws {
        world = try ServiceInMemory()
        protectors = Protectors(
            folder: world.folder,
            deviceKey: try Protectors.deviceKey(at: world.home + "/device.key"),
            allowsDeviceProtector: false,
            keys: ProtectorKeys(tpm: tpm, securityKeys: nil, credentials: [:]))
    }

    private func enrol() throws -> Protector {
        let keychain = try world.keychain
        let change = ProtectorChange(
            .add, keychain: keychain.file.identifier, isPasscodeSet: true, mayAsk: true,
            provable: [.factor(.presence)])
        let proven = Evidence().adding(.factor(.presence))
        guard case .allow(let grant) = Judge().judge(change, proven) else {
            throw RequestError.refused(.authenticationFailed)
        }
        return try protectors.add(
            .tpm(registers: [], atLogin: false), to: keychain,
            from: .password(ServiceInMemory.secret(ServiceInMemory.password)), grant)
    }

    @Test func `it is asked by one process at a time`() throws {
        let (keychain, added) = (try world.keychain, try enrol())
        let ended = DispatchGroup()
        for _ in 0..<2 {
            ended.enter()
            Thread { [protectors] in
                #expect(throws: Never.self) {
                    try protectors.test(added.identifier, nil, of: keychain)
                }
                ended.leave()
            }.start()
        }
        #expect(tpm.hasBegun.wait(timeout: .now() + 30) == .success)
        #expect(tpm.hasBegun.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        tpm.goesOn.signal()
        #expect(tpm.hasBegun.wait(timeout: .now() + 30) == .success)
        tpm.goesOn.signal()
        ended.wait()
    }
}
