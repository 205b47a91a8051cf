#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# portal_sandbox.sh NAME STEP…: an application in the two sandboxes that Flatpak makes, its bus's and its
# own, asks the desktop's portal, which is started where none runs on the bus. KEYCHAIN_PORTALS names the
# folder of portal files.
tools=$(dirname "$0")
folder=$(mktemp -d)
trap 'kill $proxy 2>/dev/null; rm -rf "$folder"' EXIT
has() {
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.NameHasOwner "string:$1" | grep -q true
}
if ! has org.freedesktop.portal.Desktop; then
    XDG_CURRENT_DESKTOP=sway XDG_DESKTOP_PORTAL_DIR=$KEYCHAIN_PORTALS \
        /usr/libexec/xdg-desktop-portal >"$HOME/portal.log" 2>&1 &
    for n in $(seq 600); do has org.freedesktop.portal.Desktop && break; sleep 0.05; done
fi
printf '[Application]\nname=%s\n[Instance]\ninstance-id=1\n' "$1" >"$folder/info"
shift
system="--ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin"
bwrap --die-with-parent $system --bind /run /run --bind /tmp /tmp --dev /dev --file 7 /.flatpak-info 7<"$folder/info" \
    xdg-dbus-proxy "$DBUS_SESSION_BUS_ADDRESS" "$folder/socket" --filter \
    --talk=org.freedesktop.portal.Desktop &
proxy=$!
for n in $(seq 200); do test -S "$folder/socket" && break; sleep 0.05; done
bwrap $system --unshare-all --dev /dev --ro-bind "$folder/socket" /run/bus --ro-bind "$tools" "$tools" \
    --file 7 /.flatpak-info 7<"$folder/info" --setenv DBUS_SESSION_BUS_ADDRESS unix:path=/run/bus \
    /usr/bin/python3 -B "$tools/portal_client.py" "$@"
