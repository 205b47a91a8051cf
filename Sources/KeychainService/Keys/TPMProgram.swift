// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import LocalSocket
internal import Secrets

/// The machine's TPM, through `keychain-tpm`: one process for each exchange, so that a TPM that does
/// not answer holds nobody up, and no library of its own is among the class keys.
struct TPMProgram: Sendable {
    /// A slow TPM takes two seconds for its storage key.
    private static let deadlineSeconds = 10.0

    let path: String

    func seal(_ key: HeldSecret, registers: [UInt8]) throws(Refusal) -> [UInt8] {
        try run(["seal"] + registers.map { String($0) }, key).bytes.releasedFromLockedMemory()
    }

    func open(_ sealed: [UInt8]) throws(Refusal) -> HeldSecret {
        try run(["open"], HeldSecret(SecretBytes(copying: sealed)))
    }

    private func run(_ arguments: [String], _ question: HeldSecret) throws(Refusal) -> HeldSecret {
        let exchange: ChildExchange
        do {
            exchange = try ChildExchange(
                with: path, arguments, question: question, deadlineSeconds: Self.deadlineSeconds)
        } catch { throw error == .tooLarge ? .damaged : .protectorNotAvailable }
        if exchange.code == 0, let answer = exchange.answer { return answer }
        throw exchange.code.flatMap { Refusal(rawValue: UInt32($0)) } ?? .protectorFailed
    }
}
