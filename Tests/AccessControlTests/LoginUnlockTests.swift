// SPDX-License-Identifier: Apache-2.0
import AccessControl
import Testing

@Suite struct LoginUnlockTests {
    @Test(arguments: ["login", "sshd", "gdm-fingerprint", "gdm-autologin", "sddm", "lightdm"])
    func `a login opens what its owner enrolled`(_ service: String) {
        #expect(Judge().judge(LoginUnlock(service: service, isEnrolled: true)))
        #expect(!Judge().judge(LoginUnlock(service: service, isEnrolled: false)))
    }

    @Test(
        arguments: [
            "sudo", "sudo-i", "su", "su-l", "SU", "runuser", "runuser-l", "cron", "crond", "atd",
            "systemd-user", "polkit-1", "pkexec", "other", "",
        ])
    func `a service of others opens nobody's keychain`(_ service: String) {
        #expect(!Judge().judge(LoginUnlock(service: service, isEnrolled: true)))
    }
}
