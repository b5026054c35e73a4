//! Which network addresses are public: those that only a machine of the open internet has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is public.
///
/// # Errors
/// What the address is, such as `a loopback address`.
pub fn public_address(ip: IpAddr) -> Result<(), &'static str> {
    match ip {
        IpAddr::V4(ip) => public_v4(ip),
        IpAddr::V6(ip) => public_v6(ip),
    }
}

/// The special-purpose blocks of RFC 6890 and its successors, as of the IANA registry.
fn public_v4(ip: Ipv4Addr) -> Result<(), &'static str> {
    let octets = ip.octets();
    let what = match octets {
        [0, ..] => "an address of this network",
        [127, ..] => "a loopback address",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "a private address",
        [100, 64..=127, ..] => "a carrier's shared address",
        [169, 254, ..] => "a link-local address",
        // Azure serves a machine's own settings there, although the block is public.
        [168, 63, 129, 16] => "the address of a cloud's metadata service",
        [192, 0, 0 | 2, _] | [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            "a reserved address"
        }
        [192, 88, 99, _] => "a reserved address",
        [224..=239, ..] => "a multicast address",
        [240..=255, ..] => "a reserved address",
        _ => return Ok(()),
    };
    Err(what)
}

fn public_v6(ip: Ipv6Addr) -> Result<(), &'static str> {
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    let what = match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "an address of this network",
        [0, 0, 0, 0, 0, 0, 0, 1] => "a loopback address",
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] => "an IPv4 address in IPv6 form",
        // A network without IPv4 reaches public IPv4 hosts this way.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return public_v4(inner(high, low)),
        // 6to4 holds the IPv4 address of the gateway.
        [0x2002, high, low, ..] => return public_v4(inner(high, low)),
        // Teredo hides both ends; documentation, benchmarks and ORCHID are nobody's.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            "a reserved address"
        }
        [0xfc00..=0xfdff, ..] => "a private address",
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xff00..=0xffff, ..] => "a multicast address",
        // Global unicast: all else is not given out.
        [0x2000..=0x3fff, ..] => return Ok(()),
        _ => "a reserved address",
    };
    Err(what)
}
