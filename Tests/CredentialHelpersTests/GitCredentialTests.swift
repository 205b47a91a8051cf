// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import CredentialHelpers

@Suite struct GitCredentials {
    @Test func `lines up to an empty one are read, and unknown keys passed over`() throws {
        let given = try GitCredential(
            held(
                """
                capability[]=authtype
                capability[]=state
                protocol=https
                host=example.com:8443
                path=a/b.git
                username=me
                password=a=b c
                password_expiry_utc=1700000000
                oauth_refresh_token=refresh
                wwwauth[]=Basic realm="x"

                host=other.example
                """))
        #expect(given.scheme == "https")
        #expect(given.host == "example.com:8443")
        #expect(given.path == "a/b.git")
        #expect(given.username == "me")
        #expect(text(given.password) == "a=b c")
        #expect(given.expiry == 1_700_000_000)
        #expect(text(given.refreshToken) == "refresh")
    }

    @Test func `nothing and an empty value are told apart`() throws {
        #expect(try GitCredential(held("")).username == nil)
        #expect(try GitCredential(held("username=\npassword=")).username == "")
        #expect(text(try GitCredential(held("username=\npassword=")).password) == "")
    }

    @Test(arguments: [
        "hunter2", "hunter2\n", "protocol=https\nhunter", "{\"ServerURL\":\"x\"}",
        "pass word=hunter2", "=hunter2", "protocol=https\r\nhost=x\r\n\r\n", "password=a\0hunter2",
        "host=a\0hunter2", "\u{FF}=hunter2",
    ])
    func `half a line, CR LF, NUL and other tools' words are refused without a word of them`(
        input: String
    ) {
        let failure = #expect(throws: HelperFailure.self) { try GitCredential(held(input)) }
        #expect(failure?.sentence.contains("hunter2") == false)
    }

    @Test func `very many lines and very long keys are refused`() {
        for input in [
            String(repeating: "a=b\n", count: 100_000), String(repeating: "a", count: 500_000),
            "host=" + String(repeating: "a", count: 500_000),
        ] {
            #expect(throws: HelperFailure.self) { try GitCredential(held(input)) }
        }
    }

    @Test func `a password alone is the whole secret`() throws {
        let given = try GitCredential(held("username=me\npassword=pass"))
        let secret = GitSecret(given, password: try #require(given.password))
        #expect(text(secret.stored) == "pass")
        #expect(text(GitSecret(stored: held("pass"))?.password) == "pass")
        #expect(text(GitSecret(stored: held(""))?.password) == "")
    }

    @Test func `what belongs to a password is kept below it`() throws {
        let given = try GitCredential(
            held("password=pass\npassword_expiry_utc=100\noauth_refresh_token=token"))
        let stored = GitSecret(given, password: try #require(given.password)).stored
        #expect(text(stored) == "pass\npassword_expiry_utc=100\noauth_refresh_token=token")
        let secret = try #require(GitSecret(stored: stored))
        #expect(
            text(secret.lines(account: "me", now: 99).joined())
                == "username=me\npassword=pass\npassword_expiry_utc=100\noauth_refresh_token=token\n"
        )
    }

    @Test func `a password that is over is not told, and what renews it is`() throws {
        let secret = try #require(
            GitSecret(stored: held("pass\npassword_expiry_utc=100\noauth_refresh_token=token")))
        #expect(
            text(secret.lines(account: "me", now: 100).joined())
                == "username=me\noauth_refresh_token=token\n")
    }

    @Test func `only a password that is told is marked as one that is kept`() throws {
        let secret = try #require(GitSecret(stored: held("pass\npassword_expiry_utc=100")))
        let told = text(secret.lines(account: "me", now: 99, keepsState: true).joined())
        #expect(told?.hasPrefix("capability[]=state\nstate[]=keychain:told=1\n") == true)
        // What git puts in its place comes back to be kept.
        #expect(
            text(secret.lines(account: "me", now: 100, keepsState: true).joined())
                == "username=me\n")
    }

    @Test(arguments: [
        ("password=pass", "pass", true), ("password=pass", "other", false),
        ("password=pass", "pass\npassword_expiry_utc=100\noauth_refresh_token=token", true),
        ("password=pass", "other\noauth_refresh_token=token", false),
        // One that is over is not told, so that the same password is a new one.
        ("password=pass", "pass\npassword_expiry_utc=99", false),
        ("password=pass\npassword_expiry_utc=200", "pass\npassword_expiry_utc=100", false),
        ("password=pass\noauth_refresh_token=new", "pass\noauth_refresh_token=old", false),
        ("password=pass\noauth_refresh_token=token", "pass", false),
        ("password=pass", "pass\nand more", false),
    ])
    func `a git that names no token and no end does not take them away`(
        said: String, stored: String, isKept: Bool
    ) throws {
        let given = try GitCredential(held(said))
        let secret = GitSecret(given, password: try #require(given.password))
        #expect(secret.isKept(in: held(stored), now: 99) == isKept)
    }

    @Test func `a secret with lines of its own can't be told to git`() {
        #expect(GitSecret(stored: held("one\ntwo")) == nil)
        #expect(GitSecret(stored: held("one\0two")) == nil)
        #expect(GitSecret(stored: held("one\nhost=evil")) == nil)
    }
}

@Suite struct InternetPlaces {
    private func place(_ host: String, path: String? = nil) throws -> InternetPlace {
        try #require(try InternetPlace(scheme: "https", host: host, path: path))
    }

    @Test func `a port behind the host is a number of its own`() throws {
        #expect(try place("example.com:8443").port == 8443)
        #expect(try place("example.com:8443").host == "example.com")
        #expect(try place("example.com").port == nil)
        #expect(try place("[::1]:8443").host == "[::1]")
        #expect(try place("[::1]:8443").port == 8443)
        #expect(try place("[::1]").host == "[::1]")
    }

    @Test(arguments: ["a:b", "a:", "a:65536", "a:-1", "a:+1", "a:1 "])
    func `a port that is no number is refused`(host: String) {
        #expect(throws: HelperFailure.self) { try place(host) }
    }

    @Test func `a password of another port is never meant`() throws {
        let plain = try place("a").searches(account: nil).map { $0[.port] }
        #expect(plain == [.number(0), .number(443), .number(0), .number(443)])
        #expect(try place("a:443").searches(account: nil)[0][.port] == .number(443))
        #expect(
            try place("a:8443").searches(account: nil).allSatisfy { $0[.port] == .number(8443) })
    }

    @Test func `a password of another path is never meant where one is given`() throws {
        let searches = try place("a", path: "x").searches(account: nil)
        #expect(searches.allSatisfy { $0[.path] == .string("x") })
        #expect(try place("a").searches(account: nil)[0][.path] == .string(""))
    }

    @Test func `a scheme that macOS has no code for is not kept`() throws {
        #expect(try InternetPlace(scheme: "cert", host: "a", path: nil) == nil)
        #expect(try InternetPlace(scheme: "https", host: "a", path: nil)?.code == "htps")
    }
}
