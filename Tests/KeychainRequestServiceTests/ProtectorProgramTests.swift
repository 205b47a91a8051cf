// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import KeychainDaemon
import KeychainModel
import KeychainSecrets
import KeychainVaults
import ProgramHandoff
import SystemTestSupport
import Testing

/// The programs that hold the keys of protectors, as scripts that talk on descriptor 3: a byte that
/// says that an answer follows, and the answer.
private struct KeyHolder {
    private let folder: ScratchFolder
    let starter: ScriptStarter

    /// It writes down what it was told, before it does what the words say.
    init(_ words: String) throws {
        folder = try ScratchFolder()
        let log = folder.path
        starter = ScriptStarter(
            path: try folder.script(
                "holder",
                """
                echo "$@" >> \(log)/arguments
                /bin/dd bs=4096 count=1 <&3 of=\(log)/question 2>/dev/null
                \(words)
                """))
    }

    var arguments: String? { try? String(contentsOfFile: folder("arguments"), encoding: .utf8) }
    /// Without the byte before it.
    var question: [UInt8]? {
        FileManager.default.contents(atPath: folder("question")).map { Array($0.dropFirst()) }
    }
}

@Suite struct TPMProgramTests {
    private func refusal(_ starter: any ProgramStarter) -> RequestError? {
        do throws(RequestError) {
            _ = try TPMProgram(starter: starter).open([1], for: 1000)
            return nil
        } catch { return error }
    }

    private func refusal(of words: String) throws -> RequestError? {
        let holder = try KeyHolder(words)
        defer { withExtendedLifetime(holder) {} }
        return refusal(holder.starter)
    }

    @Test func `a key is sealed to the registers, and opened by itself`() throws {
        let holder = try KeyHolder(#"printf '\005sealed' >&3"#)
        let sealed = try TPMProgram(starter: holder.starter).seal(
            HeldSecret("key"), registers: [0, 11], for: 1000)
        #expect(sealed == Array("sealed".utf8))
        #expect(holder.arguments == "seal 0 11\n")
        #expect(holder.question == Array("key".utf8))
        let opener = try KeyHolder(#"printf '\005key' >&3"#)
        #expect(try TPMProgram(starter: opener.starter).open(sealed, for: 1000).text == "key")
        #expect(opener.arguments == "open\n")
        #expect(opener.question == sealed)
    }

    @Test func `why there is no key is what the program ends with`() throws {
        for expected in [
            RequestError.state(.measurementsDiffer), .state(.protectorChanged),
            .state(.protectorNotAvailable),
        ] {
            #expect(try refusal(of: "exit \(expected.rawValue)") == expected)
        }
        // An answer counts only from a program that ended well.
        let both = "printf '\\005key' >&3\nexit \(RequestError.refused(.wrongPIN).rawValue)"
        #expect(try refusal(of: both) == .refused(.wrongPIN))
    }

    @Test func `a program that ends without a word or a number has failed`() throws {
        for words in ["exit 0", "exit 250", "kill -9 $$", #"printf '\006' >&3"#] {
            #expect(try refusal(of: words) == .failed(.protectorFailed), "\(words)")
        }
    }

    @Test func `a program that is not started, and a starter that is gone, are told apart`() {
        let refusals: [(StarterError, RequestError)] = [
            (.notInstalled, .state(.protectorNotAvailable)),
            (.failed, .state(.protectorNotAvailable)), (.badRequest, .failed(.protectorFailed)),
            (.busy, .refused(.tooManyRequests)), (.notAnswering, .failed(.noAuthentication)),
        ]
        for (error, expected) in refusals {
            #expect(refusal(RefusingStarter(error: error)) == expected, "\(error)")
        }
        #expect(refusal(LostStarter()) == .failed(.noAuthentication))
        #expect(refusal(ScriptStarter(path: "/no/such/program")) == .state(.protectorNotAvailable))
    }
}

@Suite struct SecurityKeyProgramTests {
    private static let secret = String(repeating: "s", count: 32)

    private func refusal(_ words: String) throws -> RequestError? {
        let holder = try KeyHolder(words)
        defer { withExtendedLifetime(holder) {} }
        let program = SecurityKeyProgram(starter: holder.starter)
        do throws(RequestError) {
            _ = try program.make(pin: HeldSecret("1234"), for: 1000)
            return nil
        } catch { return error }
    }

    @Test func `the key that was made is found again, and is not what the device tells`() throws {
        let maker = try KeyHolder("printf '\\005\(Self.secret)\\001credential' >&3")
        let made = try SecurityKeyProgram(starter: maker.starter).make(
            pin: HeldSecret("1234"), for: 1000)
        #expect(made.credential == [1] + Array("credential".utf8))
        #expect(maker.arguments == "make\n")
        #expect(maker.question == Array("1234".utf8))
        let isTold = made.key.bytes.matches(HeldSecret(Self.secret).bytes)
        #expect(!isTold)
        let opener = try KeyHolder("printf '\\005\(Self.secret)' >&3")
        let program = SecurityKeyProgram(starter: opener.starter)
        let found = try program.open(
            made.credential, pin: HeldSecret("1234"), atLogin: false, for: 1000)
        let isSame = found.bytes.matches(made.key.bytes)
        #expect(isSame)
        #expect(opener.arguments == "open\n")
        // Its length, the credential, and the PIN.
        #expect(opener.question == [11, 0] + made.credential + Array("1234".utf8))
    }

    @Test func `a long credential has its length before it, and no PIN is none`() throws {
        let opener = try KeyHolder("printf '\\005\(Self.secret)' >&3")
        let credential = [UInt8](repeating: 7, count: 300)
        _ = try SecurityKeyProgram(starter: opener.starter).open(
            credential, pin: nil, atLogin: true, for: 1000)
        #expect(opener.question == [44, 1] + credential)
    }

    @Test func `less than a secret and a credential is a failure`() throws {
        #expect(try refusal("printf '\\005\(Self.secret)' >&3") == .failed(.protectorFailed))
        #expect(try refusal("printf '\\005short' >&3") == .failed(.protectorFailed))
        #expect(
            try refusal("exit \(RequestError.refused(.wrongPIN).rawValue)") == .refused(.wrongPIN))
        let short = try KeyHolder("printf '\\005short' >&3")
        #expect(throws: RequestError.failed(.protectorFailed)) {
            _ = try SecurityKeyProgram(starter: short.starter).open(
                [1], pin: nil, atLogin: false, for: 1000)
        }
        // What it was told is looked at, so that it is there until now.
        #expect(short.arguments == "open\n")
    }
}
