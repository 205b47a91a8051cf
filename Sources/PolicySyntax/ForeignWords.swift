// SPDX-License-Identifier: Apache-2.0

/// Words of other systems' policies (sudoers, polkit, SELinux, Cedar, Rego, IAM, RBAC) and of
/// everyday speech, in small letters with dashes.
enum ForeignWords {
    /// Words with a counterpart in policies; the place decides which of several is meant.
    static let ours: [String: [String]] = [
        // Effects and keys of rules.
        "allow": ["permit"], "accept": ["permit"], "grant": ["permit"],
        "deny": ["forbid", "deny"], "refuse": ["forbid", "deny"], "reject": ["forbid", "deny"],
        "block": ["forbid", "deny"], "permit": ["allow"], "forbid": ["deny"],
        "ask": ["challenge"], "prompt": ["challenge"], "except": ["unless"],
        "exclude": ["unless"], "not": ["unless"], "not-action": ["unless"],
        "not-principal": ["unless"], "not-resource": ["unless"], "condition": ["when"],
        "conditions": ["when"], "if": ["when"], "context": ["when"], "environment": ["when"],
        "who": ["subject"], "principal": ["subject"], "subjects": ["subject"],
        "action": ["operations", "operation"], "actions": ["operations"],
        "verb": ["operations", "operation"], "verbs": ["operations"], "op": ["operation"],
        "item": ["resource"], "object": ["resource"], "target": ["resource"],
        "resources": ["resource"], "rule": ["rules"], "statement": ["rules"],
        "statements": ["rules"], "policies": ["rules"], "version": ["policy"],
        "package": ["name"], "comment": ["description"], "dontaudit": ["audit"],
        "auditallow": ["audit"], "log": ["audit"], "neverallow": ["assert"],
        "aliases": ["define"], "user-alias": ["define"], "cmnd-alias": ["define"],
        "notbefore": ["from"], "not-before": ["from"], "valid-from": ["from"],
        "notafter": ["until"], "not-after": ["until"], "valid-until": ["until"],
        "timeout": ["within"], "ttl": ["within"], "max-age": ["within"],
        "timestamp-timeout": ["within"],
        // Operations.
        "read": ["read-secret"], "get": ["read-secret"], "copy-matching": ["read-secret"],
        "list": ["read-attributes"], "search": ["read-attributes"], "create": ["add"],
        "modify": ["update"], "change": ["update"], "edit": ["update"], "remove": ["delete"],
        "create-signature": ["sign"], "create-decrypted-data": ["decrypt"],
        "copy-key-exchange-result": ["derive"], "copy-external-representation": ["export"],
        "*": ["all"], "any": ["all"],
        // Fields.
        "path": ["exe"], "program": ["exe", "process"], "command": ["exe"], "cmnd": ["exe"],
        "binary": ["exe"], "executable": ["exe"], "process": ["exe"], "systemd-unit": ["unit"],
        "flatpak": ["app"], "snap": ["app"], "selinux": ["label"], "apparmor": ["label"],
        "type": ["class", "label"], "username": ["user"], "role": ["group"], "roles": ["group"],
        "hostname": ["host"], "url": ["server"], "domain": ["server"],
        "locked": ["screen-locked"], "ssh": ["remote"], "hours": ["time"], "day": ["time"],
        "days": ["time"], "weekday": ["time"],
        // Words.
        "password": ["passcode", "generic-password"], "pin": ["passcode"],
        "auth-self": ["passcode"], "auth-self-keep": ["passcode"],
        "device-owner-authentication": ["presence"], "fingerprint": ["biometry"],
        "touch-id": ["biometry"], "face-id": ["biometry"], "touch": ["presence"],
        "user-presence": ["presence"], "consent": ["confirm"], "yubikey": ["companion"],
        "security-key": ["companion"], "fido2": ["companion"], "and": ["all"], "all-of": ["all"],
        "or": ["any"], "any-of": ["any"], "one-of": ["any"], "min": ["k"], "n": ["k"],
        "login": ["session"], "terminal": ["tty"], "local": ["seat"], "desktop": ["seat"],
        "console": ["seat"], "rdp": ["remote-desktop"], "vnc": ["remote-desktop"],
        "systemd": ["service"], "daemon": ["service"], "permissive": ["complain"],
        "warn": ["complain"], "dry-run": ["complain"], "enforcing": ["enforce"],
        "ro": ["read"], "readonly": ["read"], "rw": ["write"],
    ]

    private static let order = "rules have no order: forbid wins, and requirements add up"
    private static let effect = "the effect is the key, with a reason: permit: REASON"
    private static let trial =
        "a rule counts while it stands here; mode: complain has it only report"
    private static let folder = "every *.yaml file of the folder is read"
    private static let head = "begin with policy: v1 and name: NAME"
    private static let address =
        "no address is known; when: {remote: true} is a login from elsewhere"
    private static let days = "from and until, beside the id, say on which days a rule counts"
    private static let account = "subject: {user: NAME} is the user who asks, and no other is known"
    private static let arguments = "what a program is given is not known; name its unit or app"
    private static let approval = "another person approves: {approval: [ann, bob]}"
    private static let two = "two proofs are {all: [passcode, companion]}"
    private static let code = "a PAM service of yours proves it: {pam: keychain-otp}"

    /// Words without a counterpart, with the way to say it: keys, and proofs.
    static let said: [String: [String: String]] = [
        "key": [
            "priority": order, "order": order, "precedence": order, "weight": order,
            "effect": effect, "decision": effect, "reason": effect, "message": effect,
            "result": effect, "api-version": head, "kind": head, "metadata": head,
            "default": "what nothing forbids is allowed; closed: names what needs a permit",
            "enabled": trial, "disabled": trial, "include": folder, "import": folder,
            "nopasswd": "a rule asks only for what it names under require",
            "runas": account, "run-as": account, "runas-user": account, "target-user": account,
            "ip": address, "address": address, "cidr": address, "source-ip": address,
            "args": arguments, "arguments": arguments, "argv": arguments,
            "date": days, "before": days, "after": days,
        ],
        "constraint": [
            "auth-admin": approval, "auth-admin-keep": approval, "approval": approval,
            "mfa": two, "2fa": two, "otp": code, "totp": code, "pam": code,
            "none": "leave the rule out where nothing is to be proven",
        ],
    ]
}

/// Examples of each kind of value, for a message about a value of another kind.
package enum WrittenForms {
    package static func of(_ what: String) -> String? { forms[what] }

    private static let forms = [
        "a policy file": "begin with policy: v1",
        "a rule": "as {id: NAME, forbid: REASON, subject: {user: ann}}",
        "a closed scope": "as {id: NAME, resource: {keychain: ci}}",
        "a group": "as {id: NAME, group: mail, members: {unit: mail.service}}",
        "an exception": "as subject: {user: ann}",
        "subject": "as {user: ann}, or {group: ops}",
        "resource": "as {service: mail}",
        "when": "as {remote: true}",
        "flags": "as {has: [user-presence]}",
        "limit": "as {rate: 30/1m, by: [user], then: deny}",
        "when.session-age": "as {min: 1m, max: 8h}",
        "when.presence-age": "as {max: 5m}",
        "a test": "as {name: TEXT, request: {operation: sign}, expect: {decision: deny}}",
        "a request": "as {operation: read-secret, subject: {user: ann}}",
        "expect": "as {decision: allow}",
        "evidence": "as {passcode: {age: 2m, scope: process}}",
        "a proof": "as {age: 2m, scope: process}",
        "approval": "name each person: {approval: [ann, bob]}",
        "the reason": "a text for people; operations, subject and resource say about what",
        "between": "HH:MM-HH:MM",
    ]
}
