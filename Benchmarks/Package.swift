// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "keychain-benchmarks",
    dependencies: [.package(name: "keychain-services", path: "..")],
    targets: [
        .executableTarget(
            name: "keychain-bench",
            dependencies: [
                .product(name: "Security", package: "keychain-services"),
                .product(name: "LocalAuthentication", package: "keychain-services"),
            ]),
        .executableTarget(name: "swift-hello"),
        .target(name: "CAllocationCount"),
        .executableTarget(
            name: "policy-bench",
            dependencies: [
                "CAllocationCount", .product(name: "PolicyEngine", package: "keychain-services"),
            ]),
    ]
)
