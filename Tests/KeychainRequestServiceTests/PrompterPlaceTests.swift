// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainMessages
import KeychainModel
import KeychainLinuxSystem
import SystemTestSupport
import Testing

@testable import CallerIdentity

private func caller(
    _ terminal: UInt32?, _ session: Int32?, display: String? = nil
) -> Caller {
    Caller(
        user: 1000, process: 1, identity: .unknown, session: SessionID(rawValue: 7),
        terminal: terminal, terminalSession: session, accessGroups: [], display: display)
}

@Suite struct PrompterPlaceTests {
    @Test func `a program of a login is asked about on its display, else on its terminal`() {
        let terminal = PrompterPlace.terminal(user: 1000, device: 34816, session: 42)
        let display = PrompterPlace.display(user: 1000, login: "c2")
        #expect(PrompterPlace.all(for: caller(34816, 42, display: "c2")) == [display, terminal])
        #expect(PrompterPlace.all(for: caller(34816, 42)) == [terminal])
        // The login itself is no place: any of its programs could make a terminal for it.
        #expect(PrompterPlace.all(for: caller(nil, nil)) == [])
    }

    @Test func `a terminal of the same number in another mount is another terminal`() {
        #expect(
            PrompterPlace.terminal(of: caller(34816, 42))
                != PrompterPlace.terminal(of: caller(34816, 43)))
        #expect(PrompterPlace.terminal(of: caller(34816, nil)) == nil)
    }

    @Test func `the prompter's unit is the one of its user's manager, by its whole name`() {
        let manager = "0::/user.slice/user-1000.slice/user@1000.service/"
        func runs(_ group: String) -> Bool {
            PrompterUnit.runs(Array((group + "\n").utf8), of: 1000)
        }
        #expect(runs(manager + "session.slice/keychain-prompter.service"))
        #expect(runs("1:cpu:/x\n" + manager + "session.slice/keychain-prompter.service"))
        for other in [
            manager + "session.slice/keychain-prompter.service/child",
            manager + "app.slice/keychain-prompter.service",
            manager + "session.slice/test.service", manager + "keychain-prompter.service",
            "0::/user.slice/user-1001.slice/user@1001.service/session.slice/"
                + "keychain-prompter.service",
            "0::/x" + manager.dropFirst(3) + "session.slice/keychain-prompter.service",
            "0::/user.slice/user-1000.slice/session-2.scope", "",
        ] { #expect(!runs(other), "\(other)") }
    }

    @Test func `a program that another one started has no manager as its parent`() throws {
        let program = try Python("import time; time.sleep(60)")
        defer { program.end() }
        let process = try #require(PinnedProcess(pid: program.id, pidfd: nil))
        #expect(process.status()?.parent == getpid())
        #expect(!ServiceManager.isParent(of: process, for: getuid()))
    }

    @Test func `without logind no display is believed to be its user's`() throws {
        // No session has such a name, whether logind runs here or not.
        let ours = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        for user in [0, 1000] as [UInt32] {
            let server = DisplayServer(process: ours.id, user: user, number: 1)
            let screen = LoginScreen(server, of: "no-such-session", 1000) { _ in ours.id }
            #expect(screen == nil)
        }
    }
}
