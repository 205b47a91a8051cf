# SPDX-License-Identifier: Apache-2.0
"""What happens to sessions beside logins and logouts: logind restarted, all of them ended at once, a
screen locker, and PAM stacks that an administrator edited."""

from conftest import ALICE, BOB
from guest import wait_for

SECRET = "tr0ub4dor"
ADD = f"printf {SECRET} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail"
# As a program of alice's that belongs to no login of hers.
ASIDE = f"systemd-run --quiet --wait --pipe --collect --property=User=alice -- /usr/bin/{GET}"
SCREEN = f"""keychainctl get generic-password --service mail >before
touch ready
loginctl lock-session
i3lock --nofork &
sleep 5
keychainctl get generic-password --service mail </dev/null >during 2>&1; echo "=$?" >>during
wait
keychainctl get generic-password --service mail </dev/null >after 2>&1; echo "=$?" >>after
"""


def is_closed(guest):
    found = guest.run(ASIDE, check=False)
    return found.status != 0 and "locked" in found.text


def test_logind_may_be_restarted_while_sessions_are_open(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD).status == 0
    for _ in range(2):
        guest.run("systemctl restart systemd-logind")
        wait_for(lambda: "alice" in guest.run("loginctl list-sessions --no-legend").text, "logind")
        assert console.run(GET).text.strip() == SECRET
    # It is heard again: a lock that comes through it closes, the password opens.
    guest.run("loginctl lock-session " + console.run("echo $XDG_SESSION_ID").text.strip())
    wait_for(lambda: is_closed(guest), "the lock")
    assert console.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert console.run(GET).text.strip() == SECRET
    console.logout()
    wait_for(lambda: is_closed(guest), "the logout")


def test_when_all_sessions_end_at_once_all_keychains_close_and_the_next_logins_open_them(guest):
    """As a soft reboot does, which Debian 12's systemd does not know: every session and every
    service of the product ends, and the kernel goes on."""
    console, other = guest.consoles[0].login(*ALICE), guest.consoles[1].login(*BOB)
    assert console.run(ADD).status == 0
    assert other.run(ADD).status == 0
    guest.run("loginctl enable-linger alice")
    guest.run("systemctl stop user.slice")
    wait_for(lambda: is_closed(guest), "the end of the sessions")
    guest.run("systemctl restart keychaind.socket keychaind-login.socket keychaind-offer.socket"
              " keychain-starter.socket keychain-worker.socket keychaind.service"
              " systemd-logind.service")

    def is_served_and_closed():
        found = guest.run(ASIDE, check=False)
        assert SECRET not in found.text
        return found.status != 0 and "locked" in found.text

    wait_for(is_served_and_closed, "the start of keychaind")
    for console, user in zip(guest.consoles, (ALICE, BOB)):
        console.forget()
        console.login(*user)
        assert console.run(GET).text.strip() == SECRET
        console.logout()


def test_a_screen_locker_closes_the_keychain_and_the_password_typed_there_opens_it(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD).status == 0
    console.run("mkdir -p .config/openbox")
    console.logout()
    guest.run("cat >/home/alice/.config/openbox/autostart", input=f"({SCREEN}) &\n")
    guest.run("chown -R alice: /home/alice/.config; mkdir -p /etc/lightdm/lightdm.conf.d;"
              " printf '[Seat:*]\\nuser-session=openbox\\nautologin-user=\\n"
              "greeter-hide-users=true\\n' >/etc/lightdm/lightdm.conf.d/test.conf;"
              " systemctl start lightdm")
    wait_for(lambda: guest.run("pgrep --full lightdm-gtk-greeter", check=False).status == 0,
             "the greeter", 180)
    wait_for(lambda: guest.is_drawn(), "the greeter's window", 180, pause=3)
    guest.types(ALICE[0] + "\n")
    guest.run("sleep 3")
    guest.types(ALICE[1] + "\n")
    wait_for(lambda: "=" in guest.run("cat /home/alice/during", check=False).text, "the lock", 180)
    assert guest.run("cat /home/alice/before").text.strip() == SECRET
    during = guest.run("cat /home/alice/during").text
    assert "locked" in during and SECRET not in during
    # A wrong password opens neither.
    guest.types("wrong\n")
    guest.run("sleep 4")
    assert guest.run("pgrep i3lock", check=False).status == 0
    assert is_closed(guest)
    guest.types(ALICE[1] + "\n")
    wait_for(lambda: "=" in guest.run("cat /home/alice/after", check=False).text, "the password")
    assert guest.run("cat /home/alice/after").text.split() == [SECRET + "=0"]


def test_a_stack_that_an_administrator_wrote_stays_as_it_is_and_lets_users_in(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD).status == 0
    console.logout()
    own = "session required pam_unix.so\nsession optional pam_systemd.so\n"
    guest.run("cat >/etc/pam.d/common-session", input=own)
    guest.run("DEBIAN_FRONTEND=noninteractive pam-auth-update --package")
    assert guest.run("cat /etc/pam.d/common-session").text == own
    # The login goes on; what is missing has a name.
    console.login(*ALICE)
    found = console.run(f"{GET} </dev/null")
    assert found.status != 0 and "locked" in found.text
    told = guest.run("keychainctl doctor", check=False)
    assert told.status != 0
    assert "session optional pam_keychain.so" in told.text
    console.logout()
    # Lines that no tool may take out are named; without the module users log in.
    told = guest.run("DEBIAN_FRONTEND=noninteractive dpkg --remove libpam-keychain").text
    assert guest.run("cat /etc/pam.d/common-session").text == own
    left = guest.run("grep -l '^[^#]*pam_keychain' /etc/pam.d/common-*", check=False).text
    assert all(file in told for file in left.split())
    assert console.login(*ALICE).run("id -un").text == "alice\n"
    console.logout()
    shell = guest.ssh(*ALICE)
    assert shell.run("id -un").text == "alice\n"
    shell.closes()
