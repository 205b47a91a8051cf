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

/// A floor of the house: a Swift target with the house's settings and nothing but what it names.
func floor(
    _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = strict
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func roof(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// Code as programs write it that know nothing of this house.
func guests(
    _ name: String, _ mode: SwiftLanguageMode, _ dependencies: [Target.Dependency]
) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: [.swiftLanguageMode(mode)])
}

/// For tests that look into keychain files, and damage them, by another way than the product's.
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let cryptography: [Target.Dependency] = [
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "CryptoExtras", package: "swift-crypto"),
]
/// Not swift-certificates, which imports any module called Security: that would be a circle.
let certificates: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")

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
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
    ],
    targets: [
        // Ground: the nouns, and the C that Swift cannot do without.
        floor("KeychainModel"),
        .systemLibrary(
            name: "CKeychainSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CKeychainKeyutils", providers: [.apt(["libkeyutils-dev"])]),
        .systemLibrary(name: "CPAM", providers: [.apt(["libpam0g-dev"])]),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CTSS2", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
        .systemLibrary(
            name: "CKeychainSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CFIDO2", providers: [.apt(["libfido2-dev"])]),
        .target(name: "CKeychainLinux"),
        .target(name: "CLoginFrame", path: "pam-module/frame"),

        // Doors: one for each outside library.
        floor("KeychainSecrets", ["CKeychainSodium"], settings: hiding),
        floor("KeychainKernelKeyring", ["CKeychainKeyutils", "KeychainSecrets"]),
        floor("KeychainDatabase", ["CKeychainSQLite"]),
        floor("PAMSession", ["CPAM", "KeychainSecrets"]),
        floor("KeychainLocalSocket", ["CKeychainLinux", "KeychainSecrets"]),
        floor("LoginHandoff", ["CLoginFrame", "KeychainLocalSocket", "KeychainSecrets"]),
        floor("LoginManager", ["CSystemd"]),
        floor("TrustedPlatform", ["CTSS2", "KeychainSecrets"]),
        floor(
            "SecurityKeys", ["CFIDO2", "KeychainModel", "KeychainLocalSocket", "KeychainSecrets"]),
        floor("Terminal", ["KeychainSecrets"]),
        floor("PAMSetup", ["KeychainLocalSocket"]),
        floor("Pinentry", ["KeychainLocalSocket", "KeychainSecrets", "Terminal"]),

        // Judging: pure, and blind to secrets.
        floor("KeychainPolicyModel", ["KeychainModel"]),
        floor("KeychainPolicyEngine", ["KeychainModel", "KeychainPolicyModel"]),
        floor(
            "KeychainAccessControl",
            ["KeychainModel", "KeychainPolicyEngine", "KeychainPolicyModel"]),

        // Making policies: from text to what the engine decides by. The daemon has none of it.
        floor(
            "KeychainPolicyCompiler",
            ["KeychainModel", "KeychainPolicyEngine", "KeychainPolicyModel"]),
        floor("PolicySyntax", [yams]),
        floor("PolicyLanguage", ["KeychainLocalSocket", "KeychainPolicyModel", "PolicySyntax"]),
        floor(
            "PolicyAnalysis",
            ["KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel"]),
        floor(
            "PolicyTools",
            [
                "KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel",
                "PolicyAnalysis", "PolicyLanguage", "PolicySyntax",
            ]),

        // Keeping.
        // Generated code only, which does not meet the house's settings.
        .target(
            name: "KeychainWire", dependencies: [protobuf], exclude: ["keychain.proto"]),
        floor("KeychainMessages", ["KeychainModel", "KeychainWire", "KeychainSecrets", protobuf]),
        floor(
            "KeychainItemStore",
            [
                "KeychainModel", "KeychainAccessControl", "KeychainDatabase", "KeychainSecrets",
            ]),

        // The way of a request.
        floor(
            "KeychainRequestService",
            [
                "KeychainModel", "KeychainMessages", "KeychainAccessControl", "KeychainItemStore",
                "KeychainPolicyEngine", "KeychainPolicyModel", "KeychainSecrets",
                "KeychainKernelKeyring", "KeychainLocalSocket", "LoginHandoff", "LoginManager",
                "PAMSetup",
            ]),
        floor(
            "KeychainDaemonClient", ["KeychainModel", "KeychainMessages", "KeychainLocalSocket"]),

        // Daemon or own process: the one place that chooses.
        floor(
            "KeychainEndpoints",
            [
                "KeychainDaemonClient", "KeychainMessages", "KeychainModel",
                "KeychainRequestService",
                "KeychainLocalSocket",
            ],
            settings: hiding),

        // Faces.
        floor(
            "Security",
            [
                "KeychainModel", "KeychainMessages", "KeychainEndpoints", "KeychainSecrets",
                certificates,
            ]
                + cryptography),
        floor(
            "LocalAuthentication",
            [
                "KeychainModel", "KeychainMessages", "KeychainEndpoints", "KeychainSecrets",
                "Security",
            ]),
        floor(
            "KeychainForSwift",
            [
                "KeychainEndpoints", "KeychainMessages", "KeychainModel", "LocalAuthentication",
                "KeychainSecrets", "Security",
            ]),

        // Roof: parse arguments, wire, run.
        roof(
            "keychaind",
            [
                "KeychainRequestService", "KeychainLocalSocket", "LoginManager", "PAMSession",
                "KeychainSecrets",
                arguments, log,
            ]),
        roof("keychain-auth", ["KeychainLocalSocket", "PAMSession", "KeychainSecrets"]),
        roof(
            "keychain-tpm",
            ["KeychainModel", "KeychainLocalSocket", "KeychainSecrets", "TrustedPlatform"]),
        roof("keychain-fido", ["SecurityKeys"]),
        roof(
            "keychain-prompter",
            [
                "KeychainMessages", "KeychainModel", "KeychainLocalSocket", "Pinentry",
                "KeychainSecrets",
                "Terminal",
            ]),
        roof(
            "keychainctl",
            [
                "KeychainModel", "KeychainMessages", "KeychainEndpoints", "KeychainLocalSocket",
                "KeychainSecrets",
                "Terminal", "KeychainPolicyCompiler", "KeychainPolicyEngine",
                "KeychainPolicyModel", "PAMSetup", "PolicyAnalysis", "PolicyLanguage",
                "PolicySyntax", "PolicyTools", arguments,
            ]),

        // What the item calls are compared with, for the tests in both modes.
        .target(
            name: "KeychainWorlds", dependencies: ["Security"], path: "Tests/KeychainWorlds",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "keychain-calls", dependencies: ["KeychainWorlds", "Security"],
            path: "Tests/KeychainCalls", swiftSettings: [.swiftLanguageMode(.v6)]),
        tests("KeychainModelTests", ["KeychainModel"]),
        tests("KeychainSecretsTests", ["KeychainSecrets"]),
        tests("TerminalTests", ["Terminal", "KeychainSecrets"]),
        tests("PAMSetupTests", ["PAMSetup"]),
        tests("PinentryTests", ["Pinentry", "KeychainLocalSocket", "KeychainSecrets"]),
        tests("TrustedPlatformTests", ["TrustedPlatform", "KeychainSecrets"]),
        // A security key without hardware, for the tests and in the private world.
        .target(
            name: "SoftwareSecurityKey",
            dependencies: ["CFIDO2", "SecurityKeys"] + cryptography,
            path: "Tests/SoftwareSecurityKey", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "keychain-fido-soft", dependencies: ["SecurityKeys", "SoftwareSecurityKey"],
            path: "Tests/KeychainFIDOSoft", swiftSettings: [.swiftLanguageMode(.v6)]),
        guests(
            "SecurityKeysTests", .v6, ["SecurityKeys", "SoftwareSecurityKey", "KeychainSecrets"]),
        tests(
            "KeychainLocalSocketTests",
            ["KeychainLocalSocket", "CKeychainLinux", "KeychainSecrets"]),
        tests("LoginHandoffTests", ["LoginHandoff", "KeychainLocalSocket", "KeychainSecrets"]),
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
                "KeychainPolicyEngine", "KeychainPolicyGenerators", "KeychainPolicyModel",
                "PolicyAnalysis", "PolicyTools",
            ]),
        tests(
            "PolicyToolsTests",
            [
                "KeychainPolicyEngine", "KeychainPolicyModel", "PolicyLanguage", "PolicySyntax",
                "PolicyTools",
            ]),
        tests("KeychainMessagesTests", ["KeychainMessages", "KeychainModel", "KeychainSecrets"]),
        tests(
            "KeychainRequestServiceTests",
            [
                "KeychainRequestService", "KeychainMessages", "KeychainModel", "KeychainItemStore",
                "KeychainAccessControl", "KeychainKernelKeyring", "KeychainLocalSocket",
                "KeychainPolicyCompiler", "KeychainPolicyEngine", "KeychainPolicyModel",
                "KeychainSecrets", "PolicyLanguage", "PolicySyntax",
            ]),
        tests("KeychainDatabaseTests", ["KeychainDatabase"]),
        tests(
            "KeychainItemStoreTests",
            [
                "KeychainItemStore", "KeychainDatabase", "KeychainModel", "KeychainAccessControl",
                "KeychainPolicyGenerators", "KeychainPolicyModel",
                "KeychainSecrets", grdb,
            ]),
        guests(
            "SecurityTests", .v6,
            ["Security", "KeychainModel", "KeychainWorlds"]),
        guests(
            "LocalAuthenticationTests", .v6,
            ["LocalAuthentication", "Security", "KeychainMessages", "KeychainModel"]),
        guests(
            "KeychainForSwiftTests", .v6,
            [
                "KeychainForSwift", "KeychainModel", "KeychainWorlds", "LocalAuthentication",
                "Security",
            ]),
        guests("ExampleTests", .v6, ["Security"]),
        guests("AppleSamplesTests", .v6, ["Security"]),
        guests("AppleSamplesSwift5Tests", .v5, ["Security"]),
    ]
)
