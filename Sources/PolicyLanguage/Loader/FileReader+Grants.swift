// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

extension PolicyCondition {
    /// Whether the kernel or the system attests the condition, so that another program of the same
    /// user can't forge it.
    var isStrongSubject: Bool {
        switch self {
        case .uid: true
        case .text(.label, _): isGuardedLabel
        case .text(let field, _):
            [.user, .group, .unit, .slice, .app, .pamService].contains(field)
        case .choice(let field, _): [.session, .via, .transfer].contains(field)
        default: false
        }
    }
}

extension [PolicyCondition] {
    /// Whether the conditions rest on an attested one. A path counts where only root can change the
    /// file.
    var restOnStrongSubject: Bool {
        contains(where: \.isStrongSubject)
            || (contains(.boolean(.trustedExe, true)) && contains { $0.isText(.exe) })
    }
}

/// The checks of rules that allow more.
extension FileReader {
    mutating func checkGrant(_ rule: PolicyRule, _ keys: Keys, _ head: RuleHead) {
        switch rule.effect {
        case .permit: checkPermit(rule, head)
        case .share: checkShare(rule, keys, head)
        default: return
        }
        if let subject = keys["subject"] { checkPrograms(rule.match.box.conditions, subject) }
    }

    private mutating func checkPermit(_ rule: PolicyRule, _ head: RuleHead) {
        let conditions = rule.match.box.conditions
        let subjects = conditions.filter { $0.isSubject }
        if !subjects.isEmpty, !conditions.restOnStrongSubject {
            note(
                .weakGrant, head.node,
                "\(rule.id) permits what rests on facts that a program of the same user can forge",
                advice: "add a user, unit, app or SELinux label; or trusted-exe: true beside exe")
        }
        let resources = conditions.filter { $0.isResource }
        let chosen = resources.filter { $0.isText(.itemLabel) || $0.isText(.account) }
        if subjects.isEmpty, !resources.isEmpty, chosen.count == resources.count {
            note(
                .chosenByCreator, head.node,
                "\(rule.id) rests on a label or account, which the program that makes an item chooses",
                advice: "add a subject, an access-group or a service")
        }
    }

    private mutating func checkShare(_ rule: PolicyRule, _ keys: Keys, _ head: RuleHead) {
        let conditions = rule.match.box.conditions
        for key in ["operations", "subject"] where keys[key] == nil {
            note(.missingKey, head.node, "share \(rule.id) without \"\(key)\"", advice: "add it")
        }
        let groups = conditions.first { $0.isText(.accessGroup) }
        if groups == nil {
            note(
                .missingKey, head.node, "share \(rule.id) without \"resource.access-group\"",
                advice: "say which group it shares")
        }
        if let node = keys["operations"] { checkSharedOperations(node) }
        if keys["subject"] != nil, !conditions.restOnStrongSubject {
            note(
                .weakShare, head.node,
                "share \(rule.id) rests on facts that a program of the same user can forge",
                advice: "add a user, unit, app or SELinux label; or trusted-exe: true beside exe")
        }
        for pattern in groups?.patterns ?? []
        where pattern.isBroad && !rule.tags.contains("broad") {
            note(
                .broadShare, keys["resource"]?["access-group"] ?? head.node,
                "\"\(pattern)\" shares the items of many programs",
                advice: "name the group; or add tags: [broad] where this is meant")
        }
    }

    private mutating func checkSharedOperations(_ node: YAMLNode) {
        for item in values(node, "operations") {
            guard item.scalar == "all" || item.scalar == "change-acl" else { continue }
            note(
                .shareTooWide, item, "a share can't name \"\(item.scalar ?? "")\"",
                advice: "name the operations, \"export\" among them only where it is meant")
        }
    }

    private static let interpreters = [
        "bash", "sh", "dash", "zsh", "ksh", "fish", "busybox", "env", "python", "perl", "ruby",
        "node", "nodejs", "php", "lua", "java", "tclsh", "pwsh", "guile", "awk", "gawk", "mawk",
        "deno", "bun", "rscript",
    ]

    mutating func checkPrograms(_ conditions: [PolicyCondition], _ subject: YAMLNode) {
        let isTrusted = conditions.contains(.boolean(.trustedExe, true))
        for pattern in conditions.filter({ $0.isText(.exe) }).flatMap(\.patterns) {
            let path = pattern.description
            let node = Self.scalar(path, in: subject["exe"]) ?? subject
            let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
            let base = name.prefix { !$0.isNumber && $0 != "." && $0 != "*" }
            if Self.interpreters.contains(String(base)) {
                note(
                    .interpreter, node, "\(path) runs whatever it is given",
                    advice: "use a unit, an app or an SELinux label")
            }
            if !isTrusted, Self.isUserWritable(path) {
                note(
                    .userWritablePath, node, "\(path) is where users can write",
                    advice: "install the program, or add trusted-exe: true")
            }
        }
    }

    static func scalar(_ text: String, in node: YAMLNode?) -> YAMLNode? {
        switch node?.content {
        case .scalar(text): node
        case .list(let items): items.first { $0.scalar == text }
        default: nil
        }
    }

    private static func isUserWritable(_ path: String) -> Bool {
        !path.hasPrefix("/")
            || ["/home/", "/tmp/", "/var/tmp/", "/dev/shm/", "/run/user/", "/root/", "/*"]
                .contains { path.hasPrefix($0) }
    }
}

extension TextPattern {
    /// Whether it matches more than one family of names.
    var isBroad: Bool {
        switch self {
        case .literal: false
        case .prefix(let start): !start.string.utf8.contains { $0 == 0x2E || $0 == 0x2F }
        case .suffix: true
        case .pieces(let pieces, _):
            pieces.first.map { !$0.string.utf8.contains { $0 == 0x2E || $0 == 0x2F } } ?? true
        }
    }
}

extension FileReader {
    /// Reports a requirement that can't be met as it is written, or where no user is present to
    /// meet it.
    mutating func checkFreshness(_ rule: PolicyRule, _ keys: Keys) {
        guard case .require(let demand) = rule.effect else { return }
        let place = keys["within"] ?? keys.node
        let strict = PolicyOperations([.init(.export), .init(.changeACL)])
        if let longest = demand.scope.longest, demand.within > longest {
            note(
                .freshnessBeyondBounds, place,
                "within \(demand.within) is more than scope \(demand.scope.word) allows",
                advice: "\(longest) is what counts")
        } else if demand.within > .zero, rule.match.box.operations.isSubset(of: strict) {
            note(
                .freshnessBeyondBounds, place, "export and change-acl are always asked for anew",
                advice: "0s is what counts")
        }
        let serviceMask = ChoiceField.session.index(of: "service").map { UInt8(1) << $0 }
        for condition in rule.match.box.conditions {
            let asksNobody =
                switch condition {
                case .choice(.session, let mask): mask == serviceMask
                case .boolean(.interactive, false): true
                default: false
                }
            guard asksNobody, let node = keys.entry("require") else { continue }
            note(
                .nobodyToAsk, node, "no user can be asked where this rule matches",
                advice: "it refuses; write forbid with a reason")
        }
        if rule.match.box.isOfSSH, demand.constraint.needsConfirm,
            let node = keys.entry("require")
        {
            note(
                .nobodyToAsk, node, "confirm is a yes in a window, and a login by ssh has none",
                advice: "it refuses; require another proof, or write forbid with a reason")
        }
    }
}
