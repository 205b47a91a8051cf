// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainModel
internal import LocalSocket
internal import Secrets
internal import TrustedPlatform

/// `keychain-tpm seal [REGISTER…]`, `keychain-tpm open`: one exchange with the machine's TPM, the key
/// and what was sealed on descriptor 3. A process of its own, which may be ended when a TPM doesn't
/// answer, and whose memory never holds anybody's keychain. Its exit code is a refusal's.
@main
struct KeychainTPM {
    /// A backstop: whoever started this ends it sooner.
    private static let longestLife: UInt32 = 60

    static func main() {
        clearenv()
        guard (try? ProcessHardening.apply()) != nil, let task = Task(CommandLine.arguments) else {
            exit(2)
        }
        alarm(longestLife)
        do throws(Refusal) {
            try task.run(ConversationChannel(Descriptor(owning: ChildExchange.descriptor)))
            exit(0)
        } catch { exit(Int32(error.rawValue)) }
    }
}

private enum Task {
    case seal([UInt8])
    case open

    init?(_ arguments: [String]) {
        let rest = arguments.dropFirst(2)
        switch arguments.dropFirst().first {
        case "seal":
            let registers = rest.compactMap { UInt8($0) }.filter { $0 < 24 }
            guard registers.count == rest.count else { return nil }
            self = .seal(registers)
        case "open" where rest.isEmpty: self = .open
        default: return nil
        }
    }

    func run(_ channel: ConversationChannel) throws(Refusal) {
        let address = try TPMAddress.ofThisMachine()
        do {
            guard case .answer(let given) = try channel.receive(deadlineSeconds: 5) else {
                throw Refusal.badRequest
            }
            let tpm = try TPM(at: address)
            try channel.send(.answer(answer(to: given, tpm)))
        } catch let error as TPMError {
            throw Refusal(error)
        } catch let error as Refusal {
            throw error
        } catch { throw .internalError }
    }

    private func answer(to given: HeldSecret, _ tpm: TPM) throws(TPMError) -> HeldSecret {
        switch self {
        case .seal(let registers):
            let sealed = try tpm.seal(given.bytes, registers: registers)
            return HeldSecret(SecretBytes(copying: sealed.bytes))
        case .open:
            let sealed = try SealedKey(bytes: given.bytes.releasedFromLockedMemory())
            return HeldSecret(try tpm.open(sealed))
        }
    }
}

extension Refusal {
    init(_ error: TPMError) {
        self =
            switch error {
            case .unreachable, .refused: .protectorFailed
            case .registersDiffer: .measurementsDiffer
            case .otherTPM: .protectorChanged
            case .damaged: .damaged
            }
    }
}
