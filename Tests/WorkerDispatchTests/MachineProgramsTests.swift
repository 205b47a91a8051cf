// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import WorkerDispatch

/// Which programs get a way to the machine's keychain.
@Suite struct MachineProgramsTests {
    @Test(arguments: [
        "0::/system.slice/db.service\n", "1:name=systemd:/system.slice/db.service\n0::/\n",
        "12:cpu,cpuacct:/\n0::/system.slice/system-db.slice/db@1.service\n",
    ])
    func `a unit of the system manager's does`(_ groups: String) {
        #expect(MachinePrograms.isOfUnit(groups: groups))
    }

    @Test(arguments: [
        "", "0::/\n", "0::/user.slice/user-1000.slice/session-1.scope\n",
        "0::/user.slice/user-1000.slice/user@1000.service/system.slice/db.service\n",
        "0::/system.slice\n", "/system.slice/db.service\n", "0:/system.slice/db.service\n",
    ])
    func `what a user calls like one does not`(_ groups: String) {
        #expect(!MachinePrograms.isOfUnit(groups: groups))
    }
}
