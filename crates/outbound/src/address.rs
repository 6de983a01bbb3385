//! Which addresses lie on the public internet. Everything else is refused when the address came from outside: our own
//! machine, the network it stands in, and the places where clouds hand out credentials.
//!
//! Pure. The rule is "ordinary unicast, minus every special registry of IANA", not a list of known evils, so that what
//! will be assigned tomorrow is refused until somebody lets it in. An IPv6 address that carries an IPv4 one is judged
//! by what it carries, because that is where the packets may end up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Says why this address may not be fetched from, or nothing.
pub fn refusal(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => refusal_v4(ip),
        IpAddr::V6(ip) => refusal_v6(ip),
    }
}

/// Says why this host name may not be fetched from, or nothing. Names are judged by their addresses in the end; these
/// never leave the house, so they are not even asked about.
pub fn name_refusal(host: &str) -> Option<&'static str> {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if !host.contains('.') {
        return Some("a name without a dot belongs to the local network");
    }
    let is_local = PRIVATE_ZONES.iter().any(|zone| host.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.')));
    is_local.then_some("a name of a private zone")
}

/// Zones that no public resolver answers for; the services of clouds and clusters live in them.
const PRIVATE_ZONES: &[&str] = &[
    "localhost",
    "localdomain",
    "local",
    "internal", // metadata.google.internal, host.docker.internal
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "svc", // Kubernetes: kubernetes.default.svc
    "test",
    "invalid",
    "onion",
];

/// The special-purpose registry of IPv4 and what it leaves out, each as (first address, prefix length, why).
/// Blocks of the registry that count as reachable (AS112, AMT, 6to4 relays) serve no pages either.
const SPECIAL_V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a carrier"),
    ([127, 0, 0, 0], 8, "loopback"),
    // Azure hands out secrets of its machines here, in the middle of ordinary addresses.
    ([168, 63, 129, 16], 32, "cloud metadata"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "IETF protocols"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 31, 196, 0], 24, "AS112"),
    ([192, 52, 193, 0], 24, "AMT"),
    ([192, 88, 99, 0], 24, "6to4 relays"),
    ([192, 168, 0, 0], 16, "private"),
    ([192, 175, 48, 0], 24, "AS112"),
    ([198, 18, 0, 0], 15, "benchmarking"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

fn refusal_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let bits = ip.to_bits();
    let is_in = |first: [u8; 4], length: u32| (bits ^ u32::from_be_bytes(first)) >> (32 - length) == 0;
    SPECIAL_V4.iter().find(|(first, length, _)| is_in(*first, *length)).map(|(.., why)| *why)
}

/// The special-purpose registry of IPv6 inside the global unicast block; whatever is outside of that is refused whole.
const SPECIAL_V6: &[([u16; 3], u32, &str)] = &[
    ([0x2001, 0, 0], 23, "IETF protocols"), // benchmarking, ORCHID, AMT, AS112
    ([0x2001, 0xdb8, 0], 32, "documentation"),
    ([0x2620, 0x4f, 0x8000], 48, "AS112"),
    ([0x3fff, 0, 0], 20, "documentation"),
];

fn refusal_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let part = ip.segments();
    let carried = |high: u16, low: u16| refusal_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match part {
        // IPv4-mapped, where the kernel connects to the IPv4 address, and the well-known prefix of NAT64. A local one
        // (64:ff9b:1::/48) falls under ::/8 below.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return carried(high, low),
        [0x2002, high, low, ..] => {
            if let Some(why) = carried(high, low) {
                return Some(why);
            }
        }
        // Teredo carries its server, and its client with every bit turned over.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            return carried(server_high, server_low).or_else(|| carried(!high, !low));
        }
        _ => {}
    }
    if let Some(why) = outside_global_unicast(part[0]) {
        return Some(why);
    }
    // ISATAP, whatever the prefix: the interface is 0000:5efe or 0200:5efe and an IPv4 address.
    if matches!(part[4], 0 | 0x200)
        && part[5] == 0x5efe
        && let Some(why) = carried(part[6], part[7])
    {
        return Some(why);
    }
    let bits = u64::from(part[0]) << 32 | u64::from(part[1]) << 16 | u64::from(part[2]);
    let is_in = |first: [u16; 3], length: u32| {
        let first = u64::from(first[0]) << 32 | u64::from(first[1]) << 16 | u64::from(first[2]);
        (bits ^ first) >> (48 - length) == 0
    };
    SPECIAL_V6.iter().find(|(first, length, _)| is_in(*first, *length)).map(|(.., why)| *why)
}

/// Only 2000::/3 is assigned as global unicast. The names are for our log.
fn outside_global_unicast(first: u16) -> Option<&'static str> {
    match first {
        0x2000..=0x3fff => None,
        0..=0xff => Some("unspecified, loopback, or a form that carries an IPv4 address"),
        0x100 => Some("discard"),
        0x5f00 => Some("segment routing"),
        0xfc00..=0xfdff => Some("unique local"),
        0xfe80..=0xfebf => Some("link-local"),
        0xfec0..=0xfeff => Some("site-local"),
        0xff00..=0xffff => Some("multicast"),
        _ => Some("not assigned"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The ends of every special block, and what a cloud keeps there.
    const REFUSED: &[&str] = &[
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "100.100.100.200",
        "127.0.0.0",
        "127.0.0.1",
        "127.255.255.255",
        "168.63.129.16",
        "169.254.0.0",
        "169.254.169.254",
        "169.254.170.2",
        "169.254.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.8",
        "192.0.0.170",
        "192.0.0.192",
        "192.0.0.255",
        "192.0.2.0",
        "192.0.2.255",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "192.175.48.1",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.0",
        "198.51.100.255",
        "203.0.113.0",
        "203.0.113.255",
        "224.0.0.0",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.254",
        "255.255.255.255",
        // IPv6 outside global unicast.
        "::",
        "::1",
        "::2",
        "::7f00:1",
        "::8.8.8.8",
        "::ffff:0:8.8.8.8",
        "ff::1",
        "64:ff9b:1::808:808",
        "100::",
        "100::1",
        "100:0:0:1::1",
        "200::1",
        "400::1",
        "1fff::1",
        "4000::1",
        "5f00::1",
        "5fff::1",
        "8000::1",
        "fbff::1",
        "fc00::",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fdff::1",
        "fe00::1",
        "fe80::1",
        "fe80::a9fe:a9fe",
        "febf::1",
        "fec0::1",
        "feff::1",
        "ff02::1",
        "ffff::1",
        // Special blocks inside it.
        "2001:1::1",
        "2001:2::1",
        "2001:3::1",
        "2001:4:112::1",
        "2001:10::1",
        "2001:20::1",
        "2001:30::1",
        "2001:1ff::1",
        "2001:db8::",
        "2001:db8:ffff::1",
        "2620:4f:8000::1",
        "3fff::",
        "3fff:fff::1",
        // An IPv4 address that is refused, carried.
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:168.63.129.16",
        "64:ff9b::127.0.0.1",
        "64:ff9b::169.254.169.254",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2002:a9fe:a9fe::1",
        // Teredo: a private server; a private client (turned over: 10.0.0.1 is f5ff:fffe).
        "2001:0:a00:1::f7f7:f7f7",
        "2001:0:808:808::f5ff:fffe",
        // ISATAP.
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:127.0.0.1",
        "2001:db8::5efe:8.8.8.8",
    ];

    /// Just outside of the blocks above.
    const PUBLIC: &[&str] = &[
        "1.0.0.0",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.31.197.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::1",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2001:db7::1",
        "2001:db9::1",
        "2606:4700::1111",
        "2620:4f:8001::1",
        "2a00:1450::1",
        "3ffe::1",
        "3fff:1000::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "2001:0:808:808::f7f7:f7f7",
        "2606:4700::5efe:8.8.8.8",
    ];

    #[test]
    fn every_special_registry_is_refused_to_its_very_ends() {
        for text in REFUSED {
            assert!(refusal(text.parse().unwrap()).is_some(), "{text} is let through");
        }
    }

    #[test]
    fn what_lies_just_outside_of_them_is_public() {
        for text in PUBLIC {
            assert_eq!(refusal(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn names_of_private_zones_and_names_without_a_dot_are_refused() {
        let refused = [
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "intranet",
            "metadata",
            "metadata.google.internal",
            "metadata.google.internal.",
            "printer.local",
            "kubernetes.default.svc",
            "x.home.arpa",
            "db.corp",
        ];
        for host in refused {
            assert!(name_refusal(host).is_some(), "{host} is let through");
        }
        for host in ["example.org", "example.org.", "internal.example.org", "mylocalhost.example", "xn--e1afmkfd.xn--p1ai"] {
            assert_eq!(name_refusal(host), None, "{host}");
        }
    }

    proptest! {
        #[test]
        fn a_carried_address_is_judged_as_if_it_stood_alone(bits: u32, other: [u16; 2]) {
            let alone = refusal(Ipv4Addr::from_bits(bits).into()).is_some();
            let (high, low) = ((bits >> 16) as u16, (bits & 0xffff) as u16);
            let carriers = [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, other[0], other[1], 1, 2, 3),
                Ipv6Addr::new(0x2001, 0, 0x808, 0x808, other[0], other[1], !high, !low),
                Ipv6Addr::new(0x2606, 0x4700, other[0], other[1], 0x200, 0x5efe, high, low),
            ];
            for carrier in carriers {
                prop_assert_eq!(refusal(carrier.into()).is_some(), alone, "{}", carrier);
            }
        }

        #[test]
        fn nothing_that_the_standard_library_calls_special_is_public(v4: u32, v6: u128) {
            let v4 = Ipv4Addr::from_bits(v4);
            let is_special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast()
                || v4.is_documentation() || v4.is_broadcast() || v4.is_unspecified();
            prop_assert!(!is_special || refusal(v4.into()).is_some(), "{}", v4);
            let v6 = Ipv6Addr::from_bits(v6);
            let is_special = v6.is_loopback() || v6.is_multicast() || v6.is_unspecified() || v6.is_unique_local()
                || v6.is_unicast_link_local();
            prop_assert!(!is_special || refusal(v6.into()).is_some(), "{}", v6);
            let is_global = v6.segments()[0] & 0xe000 == 0x2000;
            let is_carrier = v6.to_ipv4_mapped().is_some() || v6.segments()[..2] == [0x64, 0xff9b];
            prop_assert!(is_global || is_carrier || refusal(v6.into()).is_some(), "{}", v6);
        }
    }
}
