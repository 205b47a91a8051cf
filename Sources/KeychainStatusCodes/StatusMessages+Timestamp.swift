// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let timestamp: [Int32: String] = [
        -67881: "The extended key usage is not marked critical.",
        -67882: "A timestamp was expected but not found.",
        -67883: "The timestamp is not valid.",
        -67884: "The timestamp is not trusted.",
        -67885: "The timestamp service is not available.",
        -67886: "The timestamp service does not support the algorithm.",
        -67887: "The timestamp service reported an invalid request.",
        -67888: "The timestamp service reported an invalid data format.",
        -67889: "The timestamp service's time source is not available.",
        -67890: "The timestamp service does not support the policy.",
        -67891: "The timestamp service does not support an extension.",
        -67892:
            "The timestamp service does not have the additional information requested.",
        -67893: "The timestamp service reported a system failure.",
        -67894: "A signing time was expected but not found.",
        -67895: "The timestamp service rejected the request.",
        -67896: "The timestamp request is pending.",
        -67897:
            "The timestamp service's certificate will be revoked soon.",
        -67898:
            "The timestamp service's certificate has been revoked.",
        -67899: "The certificate's policy is not allowed.",
        -67900: "The certificate's name is not allowed.",
        -67901: "The certificate's validity period is too long.",
        -67902: "The certificate is a certificate authority's.",
        -67903: "The certificate has a duplicate extension.",
        -67904:
            "A required qualified certificate statement is missing.",
    ]
}
