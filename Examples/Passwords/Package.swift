// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "Passwords",
    platforms: [.macOS(.v12), .iOS(.v15)],
    dependencies: [
        // Outside this repository: .package(url: "…/keychain-services", branch: "…")
        .package(name: "keychain-services", path: "../..")
    ],
    targets: [
        .target(
            name: "Passwords",
            dependencies: [
                // On Apple's platforms Security is the system's.
                .product(
                    name: "Security", package: "keychain-services",
                    condition: .when(platforms: [.linux]))
            ]),
        .executableTarget(name: "passwords-tool", dependencies: ["Passwords"]),
    ]
)
