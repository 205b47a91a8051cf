// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import SystemTestSupport
import Testing

@testable import CredentialHelpers

@Suite struct AskpassPrompts {
    private func account(_ prompt: String) -> String? {
        guard case .string(let account)? = AskpassPrompt(prompt).item?.attributes[.account] else {
            return nil
        }
        return account
    }

    @Test(arguments: [
        "Enter passphrase for key '/home/a/.ssh/id': ", "Enter passphrase for /home/a/.ssh/id: ",
        "Enter passphrase for /home/a/.ssh/id (will confirm each use): ",
        "Bad passphrase, try again for /home/a/.ssh/id: ",
        "Bad passphrase, try again for /home/a/.ssh/id (will confirm each use): ",
    ])
    func `a key's passphrase is one item whatever asks for it`(prompt: String) {
        #expect(account(prompt) == "/home/a/.ssh/id")
        #expect(AskpassPrompt(prompt).item?.attributes[.service] == .string("OpenSSH"))
        #expect(AskpassPrompt(prompt).isRepeated == prompt.hasPrefix("Bad"))
    }

    @Test func `a path that ssh may have cut, or that means something elsewhere, is not kept`() {
        let long = "/" + String(repeating: "a", count: 99)
        #expect(AskpassPrompt("Enter passphrase for key '\(long)': ").item == nil)
        #expect(AskpassPrompt("Enter passphrase for key 'id': ").item == nil)
    }

    @Test func `a login's password is that of its user and host`() {
        #expect(account("me@example.com's password: ") == "me")
        #expect(account("(me@example.com) Password: ") == "me")
        let item = AskpassPrompt("me@corp@example.com's password: ").item
        #expect(item?.attributes[.server] == .string("example.com"))
        #expect(item?.attributes[.networkProtocol] == .string("ssh "))
    }

    @Test func `git's questions name an address`() {
        let item = AskpassPrompt("Password for 'https://me%40corp@example.com:8443/a.git': ").item
        #expect(item?.attributes[.account] == .string("me@corp"))
        #expect(item?.attributes[.server] == .string("example.com"))
        #expect(item?.attributes[.port] == .number(8443))
        #expect(item?.attributes[.path] == .string("a.git"))
        let name = AskpassPrompt("Username for 'https://example.com': ")
        #expect(name.kind == .plain)
        #expect(name.item?.searches[0][.account] == nil)
    }

    @Test func `sudo's password is kept on purpose only`() {
        let item = AskpassPrompt("[sudo] password for me: ").item
        #expect(item?.attributes[.account] == .string("me"))
        #expect(item?.isOffered == false)
    }

    @Test(arguments: [
        "Enter PIN for ED25519-SK key /home/a/.ssh/id: ", "Verification code: ", "Password: ", "",
        "(me@example.com) One-time password: ", "[sudo] password for a b: ", "@'s password: ",
        "Password for 'example.com': ", "Password for 'x://y': ", "Password for 'https://': ",
        "Password for 'https://a%zz@b': ", "Enter passphrase for : ",
        "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
    ])
    func `other answers are never kept`(prompt: String) {
        #expect(AskpassPrompt(prompt).item == nil)
    }

    @Test func `a question for yes or no is seen while it is answered`() {
        #expect(AskpassPrompt("Continue connecting (yes/no/[fingerprint])? ").kind == .question)
    }
}

@Suite struct RecentAnswers {
    @Test func `processes side by side are each remembered, and one prompt is not another`() throws
    {
        let folder = try ScratchFolder()
        func answer(_ process: Int32, _ start: UInt64 = 7, _ prompt: String = "a") -> RecentAnswer {
            RecentAnswer(to: prompt, process: process, startedAt: start, in: folder.path)
        }
        for process: Int32 in [100, 101] {
            #expect(!answer(process).wasGiven)
            answer(process).note()
        }
        #expect(answer(100).wasGiven && answer(101).wasGiven)
        #expect(!answer(100, 8).wasGiven && !answer(100, 7, "b").wasGiven)
        answer(100, 8).note()
        #expect(!answer(100).wasGiven && answer(100, 8).wasGiven)
    }

    @Test func `there are never more files than a few`() throws {
        let folder = try ScratchFolder(below: "/dev/shm")
        for process: Int32 in 1...300 {
            RecentAnswer(to: "a", process: process, startedAt: 7, in: folder.path).note()
        }
        #expect(folder.names.count == 256)
    }
}

@Suite struct DockerAddresses {
    @Test func `an address without a scheme is one of https`() throws {
        let short = try DockerHelper.place("registry.example:5000")
        #expect(short == (try DockerHelper.place("https://registry.example:5000")))
        #expect(short.port == 5000)
        let hub = try DockerHelper.place("https://index.docker.io/v1/")
        #expect((hub.host, hub.path) == ("index.docker.io", "/v1/"))
    }

    @Test(arguments: ["https://", "gopher://a", "https://me:secret@a", "/path", "a:b"])
    func `what is no registry's address is refused`(address: String) {
        let failure = #expect(throws: HelperFailure.self) { try DockerHelper.place(address) }
        #expect(failure?.sentence.contains("secret") == false)
    }

    @Test func `the program knows its part by its name, or by its first argument`() {
        #expect(
            HelperProgram.Call(["/usr/bin/git-credential-keychain", "get"])?.name == GitHelper.name)
        #expect(
            HelperProgram.Call(["keychain-credential", "keychain-askpass"])?.name
                == "keychain-askpass")
        #expect(HelperProgram.Call(["keychain-credential"]) == nil)
        #expect(HelperProgram.Call(["keychain-credential", "nothing"]) == nil)
        #expect(HelperProgram.Call([]) == nil)
    }
}
