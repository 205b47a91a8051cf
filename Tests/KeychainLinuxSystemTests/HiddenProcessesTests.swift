// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainLinuxSystem

/// What `keychainctl doctor` makes of how /proc is mounted.
@Suite struct HiddenProcessesTests {
    private func hiding(_ options: String) -> HiddenProcesses? {
        HiddenProcesses(
            mounts: """
                22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
                23 28 0:21 / /proc rw,nosuid,relatime shared:12 - proc proc rw\(options)
                24 23 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw,fd=29

                """)
    }

    @Test(arguments: ["", ",hidepid=0", ",hidepid=off", ",gid=26"])
    func `what hides nothing is no trouble`(_ options: String) {
        #expect(hiding(options) == nil)
    }

    @Test(arguments: [",hidepid=invisible", ",hidepid=1", ",gid=0,hidepid=2"])
    func `root's group sees all where none is named`(_ options: String) throws {
        #expect(try #require(hiding(options)).group == 0)
    }

    @Test func `where one group sees all, it is named`() {
        #expect(hiding(",gid=26,hidepid=invisible")?.group == 26)
        #expect(hiding(",hidepid=1,gid=26")?.option == "hidepid=1")
    }

    @Test func `where tracing alone shows processes, no group helps`() throws {
        #expect(try #require(hiding(",gid=26,hidepid=ptraceable")).group == nil)
        #expect(try #require(hiding(",hidepid=4")).group == nil)
    }

    @Test func `a mount that can't be read hides nothing`() {
        #expect(HiddenProcesses(mounts: "") == nil && HiddenProcesses(mounts: "1 2 3\n") == nil)
    }
}
