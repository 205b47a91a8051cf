// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// A program in whose package graph this repository's is one of many: with packages that ask
/// `canImport(Security)` and do not depend on it, and with targets whose names are plain words.
let package = Package(
    name: "guest",
    dependencies: [
        .package(
            name: "keychain-services", path: Context.environment["KEYCHAIN_SERVICES"] ?? "../.."),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    ],
    targets: [
        .target(
            name: "Keychain",
            dependencies: [
                "Secrets",
                .product(name: "LocalAuthentication", package: "keychain-services"),
                .product(name: "Security", package: "keychain-services"),
            ]),
        .target(name: "Secrets"),
        .target(name: "Terminal"),
        .executableTarget(
            name: "guest",
            dependencies: [
                "Keychain", "Secrets", "Terminal",
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Security", package: "keychain-services"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
    ]
)
