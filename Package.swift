// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// What every Swift target of this package is held to.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Hides from clients the modules that a target imports with `@_implementationOnly`, so that
/// `Security` can be imported where no C module of this package can be found: in each package of a
/// client's graph that says `canImport(Security)`.
///
/// The check refuses each declaration whose layout or interface would need a hidden module. Swift
/// 6.3 warns of every such import even so; 6.4 does not where the check is on.
let hiding: [SwiftSetting] =
    strict + [
        .enableExperimentalFeature("CheckImplementationOnly"),
        .treatWarning("ImplementationOnlyDeprecated", as: .warning),
    ]

func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = strict
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// Tests written as a client's code is: without this package's settings.
func clientTests(
    _ name: String, _ mode: SwiftLanguageMode, _ dependencies: [Target.Dependency]
) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: [.swiftLanguageMode(mode)])
}

/// For tests that look into keychain files, and damage them, by another way than the product's.
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let cryptography: [Target.Dependency] = [
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "CryptoExtras", package: "swift-crypto"),
]
/// Not swift-certificates, which imports any module called Security: that would be a circle.
let certificates: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")

/// What reads the fuzzers' inputs: a test bundle over the corpus. `Tests/Fuzz/run` sets the variable
/// and makes a program of the same sources, with libFuzzer in it.
let fuzzed: [Target.Dependency] = [
    "CredentialHelpers", "ImportSources", "KeychainAccessControl", "KeychainImport",
    "KeychainItemStore", "KeychainLinuxSystem", "KeychainLocalSocket",
    "KeychainMessages", "KeychainMessageSamples", "KeychainModel", "KeychainPolicyCompiler",
    "KeychainPolicyEngine", "KeychainPolicyGenerators", "KeychainPolicyModel", "KeychainRows",
    "KeychainSecrets", "LibCrypto", "LoginHandoff", "MessageBus", "PolicyLanguage",
    "PolicyLanguageServer", "PolicySyntax", "PolicyTools", "SecretJSON", "SecretService",
    "SystemTestSupport",
]
let fuzzers: [Target] =
    Context.environment["KEYCHAIN_FUZZ"] == nil
    ? [tests("FuzzTests", fuzzed)]
    : [
        .target(
            name: "FuzzTests", dependencies: fuzzed, path: "Tests/FuzzTests",
            exclude: ["CorpusTests.swift"], swiftSettings: strict),
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "keychain-fuzz", dependencies: ["CFuzzer", "FuzzTests"], path: "Tests/Fuzz",
            sources: ["main.swift"], swiftSettings: strict),
    ]

let package = Package(
    name: "keychain-services",
    // The programs are no products: each target that a product reaches takes its name from all
    // packages that depend on this one. `swift build --product keychaind` works here all the same.
    products: [
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "KeychainForSwift", targets: ["KeychainForSwift"]),
        // For Benchmarks alone.
        .library(
            name: "PolicyEngine",
            targets: [
                "KeychainAccessControl", "KeychainModel", "KeychainPolicyCompiler",
                "KeychainPolicyEngine", "KeychainPolicyGenerators", "KeychainPolicyModel",
            ]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
    ],
    targets: [
        // Ground: the nouns, and the C that Swift cannot do without.
        library("KeychainModel", ["KeychainSecrets"]),
        .systemLibrary(
            name: "CKeychainSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CKeychainKeyutils", providers: [.apt(["libkeyutils-dev"])]),
        .systemLibrary(name: "CPAM", providers: [.apt(["libpam0g-dev"])]),
        .systemLibrary(name: "CShadow"),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CTSS2", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
        .systemLibrary(
            name: "CKeychainSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CFIDO2", providers: [.apt(["libfido2-dev"])]),
        .systemLibrary(
            name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CKeychainLinux"),
        .target(name: "CLoginFrame", path: "pam-module/frame"),
        .target(name: "CStartRecord", path: "starter/record"),
        .target(name: "CPeer", path: "starter/peer"),
        .target(name: "CAuditRecord", path: "audit-keeper/record"),

        // Doors: one for each outside library.
        library("KeychainSecrets", ["CKeychainSodium"], settings: hiding),
        library("KeychainKernelKeyring", ["CKeychainKeyutils", "KeychainSecrets"]),
        library("KeychainDatabase", ["CKeychainSQLite", "KeychainSecrets"]),
        library("PAMSession", ["CPAM", "KeychainSecrets"]),
        library("AccountDatabase", ["CShadow", "KeychainLinuxSystem", "KeychainSecrets"]),
        library("KeychainLinuxSystem", ["CKeychainLinux", "KeychainSecrets"]),
        library(
            "KeychainLocalSocket", ["CKeychainLinux", "KeychainLinuxSystem", "KeychainSecrets"]),
        library(
            "LoginHandoff",
            [
                "CKeychainLinux", "CLoginFrame", "KeychainLinuxSystem", "KeychainLocalSocket",
                "KeychainSecrets",
            ]),
        library("AuditHandoff", ["CAuditRecord", "KeychainLocalSocket"]),
        library(
            "ProcessBroker",
            [
                "CPeer", "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainModel",
                "KeychainSecrets",
            ]),
        program(
            "keychain-broker", ["KeychainLinuxSystem", "KeychainLocalSocket", "ProcessBroker"]),
        library("ProgramHandoff", ["CStartRecord", "KeychainLinuxSystem", "KeychainLocalSocket"]),
        library("LoginManager", ["CSystemd", "KeychainModel"]),
        // What keychaind and a worker say to each other.
        library(
            "WorkerHandoff",
            ["KeychainLinuxSystem", "KeychainLocalSocket", "KeychainModel", "LoginManager"]),
        library(
            "MessageBus",
            [
                "CKeychainLinux", "CSystemd", "KeychainLinuxSystem", "KeychainLocalSocket",
                "KeychainSecrets",
            ]),
        library("LibCrypto", ["CCrypto", "KeychainSecrets"]),
        library("TrustedPlatform", ["CTSS2", "KeychainSecrets"]),
        library(
            "SecurityKeys",
            [
                "CFIDO2", "KeychainLinuxSystem", "KeychainModel", "KeychainLocalSocket",
                "KeychainSecrets", "LibCrypto",
            ]),
        library("LibYAML", ["CYAML"]),
        library("SecretJSON", ["KeychainSecrets"]),
        library("Terminal", ["KeychainSecrets"]),
        library("PAMSetup", ["KeychainLinuxSystem"]),
        library(
            "Pinentry",
            ["KeychainLinuxSystem", "KeychainLocalSocket", "KeychainSecrets", "Terminal"]),

        // Judging: pure, and blind to secrets.
        library("KeychainPolicyModel", ["KeychainModel"]),
        library("KeychainPolicyEngine", ["KeychainModel", "KeychainPolicyModel"]),
        library(
            "KeychainAccessControl",
            ["KeychainModel", "KeychainPolicyEngine", "KeychainPolicyModel"]),

        // Making policies: from text to what the engine decides by. The daemon has none of it.
        library(
            "KeychainPolicyCompiler",
            ["KeychainModel", "KeychainPolicyEngine", "KeychainPolicyModel"]),
        library("PolicySyntax", ["KeychainPolicyModel", "LibYAML"]),
        library("PolicyVocabulary"),
        library(
            "PolicyLanguage",
            ["KeychainLinuxSystem", "KeychainPolicyModel", "PolicySyntax", "PolicyVocabulary"]),
        library("PolicyRequestSpace", ["KeychainPolicyModel"]),
        library(
            "PolicyAnalysis",
            [
                "KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel",
                "PolicyRequestSpace",
            ]),
        library(
            "PolicyTools",
            [
                "KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel",
                "PolicyAnalysis", "PolicyLanguage", "PolicyRequestSpace", "PolicySyntax",
                "Terminal",
            ]),

        library(
            "PolicyLanguageServer",
            [
                "KeychainPolicyModel", "PolicyLanguage", "PolicySyntax",
                "PolicyTools", "PolicyVocabulary",
            ]),

        // Keychain files from elsewhere, as values: what `keychain-import` has and the daemon reads.
        library("KeychainRows", ["KeychainDatabase", "KeychainLinuxSystem"]),
        program("keychain-import", ["KeychainLinuxSystem", "KeychainRows"]),

        // Keeping.
        library("KeychainMessages", ["KeychainModel", "KeychainSecrets"]),
        library(
            "KeychainItemStore",
            [
                "KeychainAccessControl", "KeychainDatabase", "KeychainLinuxSystem", "KeychainModel",
                "KeychainRows", "KeychainSecrets",
            ]),

        // The service. What both modes have.
        library(
            "KeychainRequestAudit",
            [
                "KeychainAccessControl", "KeychainLinuxSystem", "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainSecrets",
            ]),
        library(
            "KeychainActivePolicy",
            [
                "KeychainAccessControl", "KeychainItemStore", "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainRequestAudit",
                "KeychainSecrets",
            ]),
        library(
            "KeychainVaults",
            [
                "KeychainAccessControl", "KeychainItemStore", "KeychainLinuxSystem",
                "KeychainMessages", "KeychainModel", "KeychainRows", "KeychainSecrets",
            ]),
        library(
            "KeychainUserPresence",
            [
                "KeychainAccessControl", "KeychainLinuxSystem", "KeychainMessages", "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainRequestAudit",
                "KeychainSecrets",
            ]),
        library(
            "KeychainMaintenance",
            [
                "KeychainItemStore", "KeychainLinuxSystem", "KeychainMessages", "KeychainModel",
                "KeychainSecrets", "KeychainUserPresence", "KeychainVaults",
            ]),
        library(
            "KeychainManagement",
            [
                "KeychainAccessControl", "KeychainActivePolicy", "KeychainItemStore",
                "KeychainLinuxSystem", "KeychainMessages", "KeychainModel", "KeychainPolicyEngine",
                "KeychainPolicyModel", "KeychainRequestAudit", "KeychainSecrets",
                "KeychainUserPresence", "KeychainVaults",
            ]),
        library(
            "KeychainRequestService",
            [
                "KeychainAccessControl", "KeychainActivePolicy", "KeychainItemStore",
                "KeychainLinuxSystem", "KeychainMaintenance", "KeychainManagement",
                "KeychainMessages", "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainRequestAudit",
                "KeychainSecrets", "KeychainUserPresence", "KeychainVaults",
            ]),
        library(
            "KeychainDaemonClient",
            [
                "KeychainModel", "KeychainMessages", "KeychainLinuxSystem", "KeychainLocalSocket",
                "KeychainSecrets",
            ]),

        // Daemon or own process: the one place that chooses.
        library(
            "KeychainEmbedded",
            [
                "KeychainAccessControl", "KeychainActivePolicy", "KeychainItemStore",
                "KeychainKernelKeyring", "KeychainLinuxSystem", "KeychainLocalSocket",
                "KeychainMaintenance", "KeychainMessages", "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainRequestAudit",
                "KeychainRequestService", "KeychainSecrets", "KeychainUserPresence",
                "KeychainVaults",
            ]),
        library(
            "KeychainEndpoints",
            [
                "KeychainDaemonClient", "KeychainEmbedded", "KeychainLinuxSystem",
                "KeychainMessages", "KeychainModel", "KeychainRequestService",
            ],
            settings: hiding),

        // org.freedesktop.secrets on a user's bus.
        library(
            "SecretService",
            [
                "KeychainLinuxSystem", "KeychainMessages", "KeychainModel", "KeychainSecrets",
                "LibCrypto", "MessageBus", "Terminal",
            ]),
        program(
            "keychain-secrets",
            [
                "KeychainDaemonClient", "KeychainLinuxSystem", "KeychainMessages", "KeychainModel",
                "MessageBus", "SecretService", "Terminal",
            ]),
        program(
            "keychain-secrets-embedded",
            [
                "KeychainDaemonClient", "KeychainEndpoints", "KeychainLinuxSystem",
                "KeychainMessages", "KeychainModel", "KeychainSecrets", "MessageBus",
                "SecretService", "Terminal",
            ]),

        // Faces.
        // What statuses say, and what certificates and keys are: for `Security` and for `security`.
        library("KeychainStatusCodes", ["KeychainModel"]),
        library(
            "KeychainCertificates",
            ["KeychainModel", "KeychainSecrets", certificates] + cryptography),
        library(
            "Security",
            [
                "KeychainCertificates", "KeychainModel", "KeychainMessages", "KeychainEndpoints",
                "KeychainSecrets", "KeychainStatusCodes",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        library(
            "LocalAuthentication",
            [
                "KeychainModel", "KeychainMessages", "KeychainEndpoints", "KeychainSecrets",
                "Security",
            ]),
        library(
            "KeychainForSwift",
            [
                "KeychainEndpoints", "KeychainMessages", "KeychainModel", "LocalAuthentication",
                "KeychainSecrets", "Security",
            ]),

        // What the daemon alone has.
        library(
            "KeyringStore",
            ["KeychainKernelKeyring", "KeychainLinuxSystem", "KeychainModel", "KeychainSecrets"]),
        library(
            "LoginRegistry",
            [
                "KeychainKernelKeyring", "KeychainLinuxSystem", "KeychainModel", "KeychainSecrets",
                "KeyringStore", "LoginManager",
            ]),
        library(
            "SessionVault",
            [
                "KeychainItemStore", "KeychainLinuxSystem", "KeychainModel", "KeychainSecrets",
                "KeychainVaults", "KeyringStore", "LoginRegistry",
            ]),
        library(
            "CallerIdentity",
            [
                "AccountDatabase", "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainMessages",
                "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainSecrets", "LoginManager",
                "LoginRegistry",
            ]),
        library(
            "PromptedAuthentication",
            [
                "AccountDatabase", "CallerIdentity", "KeychainAccessControl", "KeychainLinuxSystem",
                "KeychainLocalSocket", "KeychainMessages", "KeychainModel", "KeychainPolicyModel",
                "KeychainSecrets", "KeychainUserPresence", "LoginManager", "PAMSetup",
                "ProgramHandoff",
            ]),
        library(
            "AuditStores",
            [
                "AuditHandoff", "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainModel",
                "KeychainRequestAudit", "KeychainUserPresence", "LoginManager",
            ]),
        library(
            "PolicyLoading",
            [
                "KeychainAccessControl", "KeychainLinuxSystem", "KeychainModel",
                "KeychainPolicyEngine", "KeychainRequestAudit", "KeychainSecrets", "LoginManager",
                "ProgramHandoff",
            ]),
        // What the administrator writes beside policies.
        library("AdministratorFiles", ["KeychainLinuxSystem", "KeychainModel", "KeychainSecrets"]),
        // One user's service, and the program that is it.
        library(
            "KeychainDaemon",
            [
                "AccountDatabase", "AuditStores", "CallerIdentity", "KeychainAccessControl",
                "KeychainActivePolicy", "KeychainItemStore", "KeychainLinuxSystem",
                "KeychainLocalSocket", "KeychainMaintenance", "KeychainMessages", "KeychainModel",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainRequestAudit",
                "KeychainRequestService", "KeychainRows", "KeychainSecrets",
                "KeychainUserPresence", "KeychainVaults", "KeyringStore", "LoginHandoff",
                "LoginManager", "LoginRegistry", "ProcessBroker", "ProgramHandoff",
                "PromptedAuthentication", "SessionVault",
            ]),
        program(
            "keychain-worker",
            [
                "AccountDatabase", "AdministratorFiles", "KeychainAccessControl",
                "KeychainActivePolicy",
                "KeychainDaemon", "KeychainDatabase", "KeychainItemStore",
                "KeychainKernelKeyring", "KeychainLinuxSystem", "KeychainLocalSocket",
                "KeychainModel", "KeychainPolicyEngine", "KeychainRequestAudit", "KeychainSecrets",
                "LoginManager",
                "ProcessBroker", "ProgramHandoff", "SessionVault", "WorkerHandoff",
            ]),
        // What passes connections to workers. It has nothing that opens a keychain or reads a request.
        library(
            "WorkerDispatch",
            [
                "AccountDatabase", "AuditHandoff", "KeychainAccessControl", "KeychainLinuxSystem",
                "KeychainLocalSocket", "KeychainMessages", "KeychainModel",
                "KeychainPolicyEngine", "KeychainRequestAudit", "KeychainSecrets", "LoginHandoff",
                "LoginManager", "PolicyLoading", "ProcessBroker", "ProgramHandoff", "WorkerHandoff",
            ]),
        program(
            "keychaind",
            [
                "AccountDatabase", "AdministratorFiles", "AuditStores", "KeychainKernelKeyring",
                "KeychainLinuxSystem",
                "KeychainLocalSocket", "KeychainRequestAudit", "KeychainSecrets", "LoginManager",
                "PolicyLoading", "ProgramHandoff", "WorkerDispatch", "WorkerHandoff", arguments,
            ]),
        program(
            "keychain-auth",
            [
                "AccountDatabase", "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainSecrets",
                "PAMSession",
            ]),
        program(
            "keychain-tpm",
            [
                "KeychainModel", "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainSecrets",
                "LibCrypto", "TrustedPlatform",
            ]),
        program("keychain-fido", ["SecurityKeys"]),
        program(
            "keychain-prompter",
            [
                "KeychainMessages", "KeychainModel", "KeychainLinuxSystem", "KeychainLocalSocket",
                "Pinentry",
                "KeychainSecrets",
                "Terminal",
            ]),
        // Passwords as other programs keep them, and what reads them for keychainctl.
        library("KeychainImport", ["KeychainModel", "KeychainSecrets"]),
        library(
            "ImportSources",
            ["KeychainImport", "KeychainModel", "KeychainSecrets", "LibCrypto", "SecretJSON"]),
        program(
            "keychainctl-import",
            [
                "ImportSources", "KeychainImport", "KeychainLinuxSystem", "KeychainModel",
                "KeychainSecrets", "LibCrypto", "MessageBus", "Terminal",
            ]),
        // The commands, for keychainctl and the programs that it becomes.
        library(
            "KeychainCommands",
            [
                "KeychainModel", "KeychainMessages", "KeychainDaemonClient",
                "KeychainImport", "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainSecrets",
                "PAMSetup", "ProgramHandoff", "SecretJSON", "Terminal", arguments,
            ]),
        program("keychainctl", ["KeychainCommands", "KeychainDaemonClient"]),
        program(
            "keychainctl-policy",
            [
                "AccountDatabase", "KeychainAccessControl", "KeychainCommands",
                "KeychainDaemonClient",
                "KeychainLinuxSystem", "KeychainMessages", "KeychainModel",
                "KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel",
                "KeychainSecrets", "PolicyAnalysis", "PolicyLanguage", "PolicyLanguageServer",
                "PolicyRequestSpace", "PolicySyntax", "PolicyTools", "Terminal", arguments,
            ]),
        program(
            "keychain-embedded",
            [
                "CredentialHelpers", "KeychainCommands", "KeychainEndpoints", "KeychainLinuxSystem",
                "KeychainModel",
                "SecurityTool",
            ]),
        // macOS' command line for keychains, and what reads certificates and keys for it.
        library(
            "SecurityTool",
            [
                "KeychainLinuxSystem", "KeychainMessages", "KeychainModel", "KeychainSecrets",
                "KeychainStatusCodes", "Terminal",
            ]),
        .executableTarget(
            name: "security", dependencies: ["KeychainDaemonClient", "SecurityTool"],
            // A folder called security would be another one's on some file systems.
            path: "Sources/security-command", swiftSettings: strict),
        // What git, docker, cargo, AWS' tools, Python's keyring and ssh ask for passwords: one program,
        // installed under a name for each.
        library(
            "CredentialHelpers",
            [
                "KeychainLinuxSystem", "KeychainMessages", "KeychainModel", "KeychainSecrets",
                "KeychainStatusCodes", "Pinentry", "SecretJSON", "Terminal",
            ]),
        program("keychain-credential", ["CredentialHelpers", "KeychainDaemonClient"]),
        program(
            "security-certificates",
            [
                "KeychainCertificates", "KeychainLinuxSystem", "KeychainModel", "KeychainSecrets",
                "SecurityTool", "Terminal",
            ]),

        // What the item calls are compared with, for the tests in both modes.
        .target(
            name: "KeychainWorlds", dependencies: ["Security"], path: "Tests/KeychainWorlds",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "keychain-calls", dependencies: ["KeychainWorlds", "Security"],
            path: "Tests/KeychainCalls", swiftSettings: [.swiftLanguageMode(.v6)]),
        // What the Secret Service's items cost, for the benchmarks.
        .executableTarget(
            name: "keychain-attributed-times",
            dependencies: [
                "KeychainEmbedded", "KeychainMessages", "KeychainModel", "KeychainSecrets",
            ],
            path: "Tests/KeychainAttributedTimes", swiftSettings: [.swiftLanguageMode(.v6)]),
        tests("KeychainModelTests", ["KeychainModel"]),
        tests("KeychainSecretsTests", ["KeychainSecrets"]),
        tests(
            "KeychainCommandsTests",
            [
                "KeychainCommands", "KeychainLinuxSystem", "KeychainModel", "KeychainSecrets",
                arguments,
            ]),
        tests(
            "ImportSourcesTests",
            ["ImportSources", "KeychainImport", "KeychainModel", "KeychainSecrets"]),
        tests("LibCryptoTests", ["KeychainSecrets", "LibCrypto"]),
        tests(
            "SecretServiceTests",
            [
                "CKeychainLinux", "KeychainLinuxSystem", "KeychainMessages", "KeychainModel",
                "KeychainSecrets", "MessageBus", "SecretService", "SystemTestSupport",
            ]),
        tests("TerminalTests", ["Terminal", "KeychainSecrets"]),
        tests("PAMSetupTests", ["PAMSetup"]),
        tests("PinentryTests", ["Pinentry", "KeychainLinuxSystem", "KeychainSecrets"]),
        tests("TrustedPlatformTests", ["TrustedPlatform", "KeychainSecrets"]),
        // A security key without hardware, for the tests and in the private world.
        .target(
            name: "SoftwareSecurityKey",
            dependencies: ["KeychainLinuxSystem"] + cryptography,
            path: "Tests/SoftwareSecurityKey", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "keychain-fido-soft",
            dependencies: ["KeychainLinuxSystem", "SecurityKeys", "SoftwareSecurityKey"],
            path: "Tests/KeychainFIDOSoft", swiftSettings: [.swiftLanguageMode(.v6)]),
        clientTests(
            "SecurityKeysTests", .v6, ["SecurityKeys", "SoftwareSecurityKey", "KeychainSecrets"]),
        tests(
            "KeychainLinuxSystemTests",
            ["KeychainLinuxSystem", "CKeychainLinux", "KeychainSecrets", "SystemTestSupport"]),
        tests(
            "KeychainLocalSocketTests",
            [
                "KeychainLocalSocket", "KeychainLinuxSystem", "CKeychainLinux", "KeychainSecrets",
                "SystemTestSupport",
            ]),
        // Chooses the keychain of the tests that call the interface, before their process has threads.
        .target(name: "CTestKeychain", path: "Tests/CTestKeychain"),
        // Folders, pipes and programs of a test's own.
        .target(
            name: "SystemTestSupport", dependencies: ["KeychainLinuxSystem"],
            path: "Tests/SystemTestSupport", swiftSettings: strict),
        tests(
            "WorkerHandoffTests",
            [
                "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainModel", "LoginManager",
                "SystemTestSupport", "WorkerHandoff",
            ]),
        tests(
            "WorkerDispatchTests",
            [
                "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainModel", "KeychainSecrets",
                "LoginManager", "SystemTestSupport", "WorkerDispatch", "WorkerHandoff",
            ]),
        tests(
            "ProgramHandoffTests",
            [
                "KeychainLinuxSystem", "KeychainLocalSocket", "ProgramHandoff",
                "SystemTestSupport",
            ]),
        tests(
            "ProcessBrokerTests",
            [
                "KeychainLinuxSystem", "KeychainLocalSocket", "KeychainModel", "ProcessBroker",
                "SystemTestSupport",
            ]),
        tests("LoginHandoffTests", ["LoginHandoff", "KeychainLinuxSystem", "KeychainSecrets"]),
        // Random policies and requests, for the tests and the benchmarks of the policy engine.
        .target(
            name: "KeychainPolicyGenerators",
            dependencies: [
                "KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel",
            ],
            path: "Tests/KeychainPolicyGenerators",
            swiftSettings: strict),
        tests("KeychainPolicyModelTests", ["KeychainModel", "KeychainPolicyModel"]),
        tests(
            "KeychainPolicyEngineTests",
            [
                "KeychainModel", "KeychainPolicyCompiler", "KeychainPolicyEngine",
                "KeychainPolicyGenerators",
                "KeychainPolicyModel",
            ]),
        tests(
            "KeychainAccessControlTests",
            [
                "KeychainAccessControl", "KeychainModel", "KeychainPolicyCompiler",
                "KeychainPolicyEngine", "KeychainPolicyModel",
            ]),
        tests(
            "PolicyLanguageTests",
            ["KeychainPolicyModel", "PolicyLanguage", "PolicySyntax", "PolicyTools"]),
        tests(
            "PolicyAnalysisTests",
            [
                "KeychainPolicyGenerators", "KeychainPolicyModel", "PolicyAnalysis",
                "PolicyRequestSpace", "PolicyTools",
            ]),
        tests(
            "PolicyToolsTests",
            [
                "KeychainPolicyGenerators", "KeychainPolicyModel", "PolicyAnalysis",
                "PolicyLanguage", "PolicyRequestSpace", "PolicySyntax", "PolicyTools",
            ]),
        tests(
            "PolicyLanguageServerTests",
            ["PolicyLanguage", "PolicyLanguageServer", "PolicySyntax"]),
        // Each message with all that it can carry.
        .target(
            name: "KeychainMessageSamples",
            dependencies: ["KeychainMessages", "KeychainModel", "KeychainSecrets"],
            path: "Tests/KeychainMessageSamples", swiftSettings: strict),
        tests(
            "KeychainMessagesTests",
            [
                "KeychainMessages", "KeychainMessageSamples", "KeychainModel", "KeychainSecrets",
            ]),
        tests(
            "KeychainRequestServiceTests",
            [
                "AccountDatabase", "AdministratorFiles", "AuditHandoff", "AuditStores",
                "CKeychainLinux",
                "CallerIdentity", "KeychainAccessControl", "KeychainActivePolicy",
                "KeychainDaemon", "KeychainEmbedded",
                "KeychainItemStore", "KeychainKernelKeyring", "KeychainLinuxSystem",
                "KeychainLocalSocket", "KeychainMaintenance", "KeychainManagement",
                "KeychainMessageSamples",
                "KeychainMessages", "KeychainModel", "KeychainPolicyCompiler",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainRequestAudit",
                "KeychainRequestService", "KeychainRows", "KeychainSecrets",
                "KeychainUserPresence", "KeychainVaults", "KeyringStore", "LoginHandoff",
                "LoginManager", "LoginRegistry", "PolicyLanguage", "PolicySyntax",
                "PolicyLoading", "ProgramHandoff", "PromptedAuthentication", "SessionVault",
                "SystemTestSupport",
            ]),
        tests("KeychainDatabaseTests", ["KeychainDatabase"]),
        tests(
            "KeychainItemStoreTests",
            [
                "KeychainAccessControl", "KeychainDatabase", "KeychainItemStore",
                "KeychainLinuxSystem", "KeychainModel", "KeychainPolicyGenerators",
                "KeychainPolicyModel", "KeychainRows", "KeychainSecrets", grdb,
            ]),
        clientTests(
            "SecurityTests", .v6,
            [
                "CTestKeychain", "Security", "KeychainCertificates", "KeychainMessages",
                "KeychainModel", "KeychainSecrets", "KeychainStatusCodes", "KeychainWorlds",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        tests(
            "SecurityToolTests",
            ["SecurityTool", "KeychainMessages", "KeychainModel", "KeychainSecrets"]),
        tests(
            "CredentialHelpersTests",
            [
                "CredentialHelpers", "KeychainModel", "KeychainSecrets", "SecretJSON",
                "SystemTestSupport",
            ]),
        clientTests(
            "LocalAuthenticationTests", .v6,
            [
                "CTestKeychain", "KeychainEndpoints", "LocalAuthentication", "Security",
                "KeychainMessages", "KeychainModel",
            ]),
        clientTests(
            "KeychainForSwiftTests", .v6,
            [
                "CTestKeychain", "KeychainForSwift", "KeychainModel", "KeychainWorlds",
                "LocalAuthentication", "Security",
            ]),
        clientTests("ExampleTests", .v6, ["CTestKeychain", "Security"]),
        clientTests("AppleSamplesTests", .v6, ["CTestKeychain", "Security"]),
        clientTests("AppleSamplesSwift5Tests", .v5, ["CTestKeychain", "Security"]),
    ] + fuzzers
)
