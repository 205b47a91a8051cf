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

/// A floor of the house: a Swift target with the house's settings and nothing but what it names.
func floor(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
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

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
/// Not swift-certificates, which imports any module called Security.
let cryptography: [Target.Dependency] = [
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "CryptoExtras", package: "swift-crypto"),
    .product(name: "SwiftASN1", package: "swift-asn1"),
]
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "keychain-services",
    products: [
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "Keychain", targets: ["Keychain"]),
        .executable(name: "keychaind", targets: ["keychaind"]),
        .executable(name: "keychain-auth", targets: ["keychain-auth"]),
        .executable(name: "keychain-tpm", targets: ["keychain-tpm"]),
        .executable(name: "keychain-fido", targets: ["keychain-fido"]),
        .executable(name: "keychain-prompter", targets: ["keychain-prompter"]),
        .executable(name: "keychainctl", targets: ["keychainctl"]),
        // For Benchmarks alone.
        .library(name: "PolicyEngine", targets: ["AccessControl", "PolicyWorlds"]),
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
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CKeyutils", providers: [.apt(["libkeyutils-dev"])]),
        .systemLibrary(name: "CPAM", providers: [.apt(["libpam0g-dev"])]),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CTSS2", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
        .systemLibrary(name: "CFIDO2", providers: [.apt(["libfido2-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CLoginFrame", path: "pam-module/frame"),

        // Doors: one for each outside library.
        floor("Secrets", ["CSodium"]),
        floor("KernelKeyring", ["CKeyutils", "Secrets"]),
        floor("PAMSession", ["CPAM", "Secrets"]),
        floor("LocalSocket", ["CLinux", "Secrets"]),
        floor("LoginHandoff", ["CLoginFrame", "LocalSocket", "Secrets"]),
        floor("LoginManager", ["CSystemd"]),
        floor("TrustedPlatform", ["CTSS2", "Secrets"]),
        floor("SecurityKeys", ["CFIDO2", "KeychainModel", "LocalSocket", "Secrets"]),
        floor("Terminal", ["Secrets"]),
        floor("PAMSetup", ["LocalSocket"]),
        floor("Pinentry", ["LocalSocket", "Secrets", "Terminal"]),

        // Judging: pure, and blind to secrets.
        floor("AccessControl", ["KeychainModel"]),
        floor("PolicyCompiler", ["AccessControl", "KeychainModel", "LocalSocket", yams]),

        // Keeping.
        // Generated code only, which does not meet the house's settings.
        .target(
            name: "KeychainWire", dependencies: [protobuf], exclude: ["keychain.proto"]),
        floor("KeychainMessages", ["KeychainModel", "KeychainWire", "Secrets", protobuf]),
        floor("KeychainStore", ["KeychainModel", "AccessControl", "Secrets", grdb, sqlite]),

        // The way of a request.
        floor(
            "KeychainService",
            [
                "KeychainModel", "KeychainMessages", "AccessControl", "KeychainStore", "Secrets",
                "KernelKeyring", "LocalSocket", "LoginHandoff", "LoginManager", "PAMSetup",
            ]),
        floor("KeychainClient", ["KeychainModel", "KeychainMessages", "LocalSocket", "Secrets"]),

        // Daemon or own process: the one place that chooses.
        floor(
            "KeychainEndpoints",
            ["KeychainClient", "KeychainMessages", "KeychainModel", "KeychainService"]),

        // Faces.
        floor(
            "Security",
            ["KeychainModel", "KeychainMessages", "KeychainEndpoints", "Secrets"] + cryptography),
        floor(
            "LocalAuthentication",
            ["KeychainModel", "KeychainMessages", "KeychainEndpoints", "Secrets", "Security"]),
        floor(
            "Keychain",
            [
                "KeychainEndpoints", "KeychainMessages", "KeychainModel", "LocalAuthentication",
                "Secrets", "Security",
            ]),

        // Roof: parse arguments, wire, run.
        roof(
            "keychaind",
            [
                "KeychainModel", "KeychainMessages", "KeychainService", "KeychainStore",
                "LocalSocket", "LoginHandoff", "LoginManager", "PAMSession", "Secrets",
                arguments, log,
            ]),
        roof("keychain-auth", ["LocalSocket", "PAMSession", "Secrets"]),
        roof("keychain-tpm", ["KeychainModel", "LocalSocket", "Secrets", "TrustedPlatform"]),
        roof("keychain-fido", ["SecurityKeys"]),
        roof(
            "keychain-prompter",
            [
                "KeychainMessages", "KeychainModel", "LocalSocket", "Pinentry", "Secrets",
                "Terminal",
            ]),
        roof(
            "keychainctl",
            [
                "KeychainModel", "KeychainMessages", "KeychainEndpoints", "LocalSocket", "Secrets",
                "Terminal", "AccessControl", "PAMSetup", "PolicyCompiler", arguments,
            ]),

        // What the item calls are compared with, for the tests in both modes.
        .target(
            name: "KeychainWorlds", dependencies: ["Security"], path: "Tests/KeychainWorlds",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "keychain-calls", dependencies: ["KeychainWorlds", "Security"],
            path: "Tests/KeychainCalls", swiftSettings: [.swiftLanguageMode(.v6)]),
        tests("KeychainModelTests", ["KeychainModel"]),
        tests("SecretsTests", ["Secrets"]),
        tests("TerminalTests", ["Terminal", "Secrets"]),
        tests("PAMSetupTests", ["PAMSetup"]),
        tests("PinentryTests", ["Pinentry", "LocalSocket", "Secrets"]),
        tests("TrustedPlatformTests", ["TrustedPlatform", "Secrets"]),
        // A security key without hardware, for the tests and in the private world.
        .target(
            name: "SoftwareSecurityKey",
            dependencies: ["CFIDO2", "SecurityKeys"] + cryptography,
            path: "Tests/SoftwareSecurityKey", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "keychain-fido-soft", dependencies: ["SecurityKeys", "SoftwareSecurityKey"],
            path: "Tests/KeychainFIDOSoft", swiftSettings: [.swiftLanguageMode(.v6)]),
        guests("SecurityKeysTests", .v6, ["SecurityKeys", "SoftwareSecurityKey", "Secrets"]),
        tests("LocalSocketTests", ["LocalSocket", "CLinux", "Secrets"]),
        tests("LoginHandoffTests", ["LoginHandoff", "LocalSocket", "Secrets"]),
        // Random policies and requests, for the tests and the benchmarks of the policy engine.
        .target(
            name: "PolicyWorlds", dependencies: ["AccessControl"], path: "Tests/PolicyWorlds",
            swiftSettings: strict),
        tests("AccessControlTests", ["AccessControl", "KeychainModel", "PolicyWorlds"]),
        tests("PolicyAnalysisTests", ["PolicyCompiler", "AccessControl", "PolicyWorlds"]),
        tests("PolicyCompilerTests", ["PolicyCompiler", "AccessControl", "KeychainModel"]),
        tests("KeychainMessagesTests", ["KeychainMessages", "KeychainModel", "Secrets"]),
        tests(
            "KeychainServiceTests",
            [
                "KeychainService", "KeychainMessages", "KeychainModel", "AccessControl",
                "KernelKeyring", "LocalSocket", "Secrets",
            ]),
        tests(
            "KeychainStoreTests",
            ["KeychainStore", "KeychainModel", "AccessControl", "PolicyWorlds", "Secrets", grdb]),
        guests(
            "SecurityTests", .v6,
            ["Security", "KeychainModel", "KeychainMessages", "KeychainWorlds", "Secrets"]),
        guests(
            "LocalAuthenticationTests", .v6,
            ["LocalAuthentication", "Security", "KeychainModel"]),
        guests(
            "KeychainTests", .v6,
            [
                "Keychain", "KeychainModel", "KeychainWorlds", "LocalAuthentication", "Security",
            ]),
        guests("ExampleTests", .v6, ["Security"]),
        guests("AppleSamplesTests", .v6, ["Security"]),
        guests("AppleSamplesSwift5Tests", .v5, ["Security"]),
    ]
)
