// SPDX-License-Identifier: Apache-2.0
internal import KeychainDaemonClient
internal import KeychainMessages
internal import KeychainModel

/// Whether requests are answered, by whom, and with what.
struct ServiceExam {
    private let keychain: Keychain

    init(_ keychain: Keychain) { self.keychain = keychain }

    var findings: [Finding] {
        let status: ServiceStatus
        do { status = try keychain.status() } catch {
            return [Finding(.service, .trouble, error.message, remedy: error.advice)]
        }
        return [mode(status), memory(status), keyring(status), device(status)].compactMap { $0 }
            + (status.mode == .daemon ? [session(status), policies] : [])
    }

    private func mode(_ status: ServiceStatus) -> Finding {
        guard status.mode == .daemon else {
            return Finding(
                .service, .note,
                "embedded mode: each program opens the files itself, and is trusted with them")
        }
        let socket = DaemonSocket.ofThisProcess ?? ""
        return Finding(.service, .fine, "keychaind answers at \(socket)")
    }

    private func memory(_ status: ServiceStatus) -> Finding {
        if status.locksMemory {
            return Finding(.service, .fine, "secrets are kept out of swap")
        }
        return Finding(
            .service, .trouble, "memory can't be locked; secrets may reach swap",
            remedy: "Raise the memlock limit (LimitMEMLOCK= of the unit; ulimit -l).")
    }

    private func keyring(_ status: ServiceStatus) -> Finding {
        if status.usesKernelKeyring {
            return Finding(.service, .fine, "unlocked keys lie in the kernel's keyring")
        }
        return Finding(
            .service, .note,
            "the kernel refuses keyring calls; unlocked keys live in the process alone")
    }

    private func device(_ status: ServiceStatus) -> Finding? {
        guard status.deviceKeyOnDisk else { return nil }
        return Finding(
            .service, .note,
            "the device key lies on this disk: anyone who has the disk reads “always” items")
    }

    private func session(_ status: ServiceStatus) -> Finding {
        if status.hasSession { return Finding(.service, .fine, "this login is known") }
        return Finding(
            .service, .note, "this login is not known to keychaind",
            remedy: "See below whether the service that it came through runs pam_keychain.so.")
    }

    private var policies: Finding {
        let report: PolicyReport
        do {
            report = PolicyReport(
                text: try keychain.ask(Policies(.report), to: "learn the policies"))
        } catch { return Finding(.policies, .trouble, error.message, remedy: error.advice) }
        guard report.isAsWritten else {
            return Finding(
                .policies, .trouble, report.first,
                remedy: "keychainctl policy check says what is wrong, and where.")
        }
        return Finding(.policies, .fine, report.first)
    }
}
