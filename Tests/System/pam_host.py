# SPDX-License-Identifier: Apache-2.0
"""A program that opens PAM sessions as sudo and cron do: pam_host.py sudo CALLER TARGET, or
pam_host.py cron TARGET, with the caller's password on the first line of its input. It says `open`
and keeps the session until its input ends. The service has the program's name: keychain-test-NAME."""

import ctypes
import sys

PAM_SUCCESS, PAM_USER, PAM_PROMPT_ECHO_OFF = 0, 2, 1
PAM_ESTABLISH_CRED, PAM_REINITIALIZE_CRED = 2, 8

pam = ctypes.CDLL("libpam.so.0")
libc = ctypes.CDLL("libc.so.6")
libc.calloc.restype = libc.strdup.restype = ctypes.c_void_p
libc.calloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


Talk = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)),
                        ctypes.POINTER(ctypes.POINTER(Response)), ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("talk", Talk), ("data", ctypes.c_void_p)]


def talk(count, messages, responses, _):
    memory = ctypes.cast(libc.calloc(count, ctypes.sizeof(Response)), ctypes.POINTER(Response))
    for index in range(count):
        if messages[index].contents.style == PAM_PROMPT_ECHO_OFF:
            memory[index].text = libc.strdup(password.encode())
    responses[0] = memory
    return PAM_SUCCESS


def check(code):
    if code != PAM_SUCCESS:
        sys.exit(f"PAM said {code}")


way, *names = sys.argv[1:]
password = sys.stdin.readline().rstrip("\n")
conversation = Conversation(Talk(talk), None)
handle = ctypes.c_void_p()
check(pam.pam_start(f"keychain-test-{way}".encode(), names[0].encode(),
                    ctypes.byref(conversation), ctypes.byref(handle)))
if way == "sudo":
    check(pam.pam_authenticate(handle, 0))
check(pam.pam_acct_mgmt(handle, 0))
if way == "sudo":
    check(pam.pam_set_item(handle, PAM_USER, ctypes.c_char_p(names[1].encode())))
check(pam.pam_setcred(handle, PAM_REINITIALIZE_CRED if way == "sudo" else PAM_ESTABLISH_CRED))
check(pam.pam_open_session(handle, 0))
print("open", flush=True)
sys.stdin.read()
check(pam.pam_close_session(handle, 0))
pam.pam_end(handle, PAM_SUCCESS)
