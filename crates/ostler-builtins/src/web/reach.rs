//! Which machines the network tools may reach (ipc.md R-110): public addresses only.
//!
//! Names are resolved here, every address is judged, and the connection goes to exactly
//! the judged addresses, so that a name cannot answer differently the second time.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

/// Names under which clouds serve a machine's own credentials, however they resolve.
const METADATA: &[&str] = &[
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Decides which addresses may be reached, and resolves names.
#[derive(Clone)]
pub struct Reach {
    judge: Arc<Judge>,
    names: Arc<Names>,
}

type Judge = dyn Fn(IpAddr) -> Result<(), &'static str> + Send + Sync;
type Names = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync;

/// An address or name that may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` is {what}: only public addresses are reached")]
pub(crate) struct Refused {
    host: String,
    what: &'static str,
}

impl Reach {
    /// Reaches the addresses for which `judge` gives no reason against, such as
    /// `a loopback address`. Names are resolved by the system.
    pub fn new(judge: impl Fn(IpAddr) -> Result<(), &'static str> + Send + Sync + 'static) -> Self {
        Self { judge: Arc::new(judge), names: Arc::new(|name| Box::pin(system(name))) }
    }

    /// Resolves names by `names` instead of the system.
    #[must_use]
    pub fn with_names(
        mut self,
        names: impl Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync + 'static,
    ) -> Self {
        self.names = Arc::new(names);
        self
    }

    /// Reaches public addresses only: the default.
    ///
    /// # Errors
    /// What the address is, if it is not public.
    pub fn public(ip: IpAddr) -> Result<(), &'static str> {
        ostler_stdx::public_address(ip)
    }

    /// Judges what can be judged without resolving anything.
    pub(crate) fn host(&self, host: &Host<&str>) -> Result<(), Refused> {
        let ip = match host {
            Host::Ipv4(ip) => IpAddr::V4(*ip),
            Host::Ipv6(ip) => IpAddr::V6(*ip),
            Host::Domain(name) => {
                let bare = name.trim_end_matches('.');
                if METADATA.iter().any(|known| known.eq_ignore_ascii_case(bare)) {
                    let what = "the name of a cloud's metadata service";
                    return Err(Refused { host: bare.to_owned(), what });
                }
                return Ok(());
            }
        };
        self.address(&host.to_string(), ip)
    }

    /// Resolves a name and judges all of its addresses: one that is refused refuses all.
    pub(crate) async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = (self.names)(name.to_owned()).await?;
        if addresses.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
        }
        for &ip in &addresses {
            self.address(name, ip).map_err(io::Error::other)?;
        }
        Ok(addresses)
    }

    fn address(&self, host: &str, ip: IpAddr) -> Result<(), Refused> {
        (self.judge)(ip).map_err(|what| Refused { host: host.to_owned(), what })
    }
}

impl Default for Reach {
    fn default() -> Self {
        Self::new(Self::public)
    }
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reach")
    }
}

impl Resolve for Reach {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.clone();
        Box::pin(async move {
            let addresses = Self::resolve(&reach, name.as_str()).await?;
            // The port is put in by the connector.
            let addresses = addresses.into_iter().map(|ip| SocketAddr::new(ip, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

async fn system(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;
    use url::Url;

    use super::*;

    fn refused(url: &str) -> bool {
        let url = Url::parse(url).unwrap();
        Reach::default().host(&url.host().unwrap()).is_err()
    }

    #[test]
    fn no_spelling_of_a_refused_address_passes() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "127.0.0.1.",
            "127\u{3002}0\u{3002}0\u{3002}1",
            "\u{2460}27.0.0.1",
            "%31%32%37.0.0.1",
            "0.0.0.0",
            "10.0.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.100.100.200",
            "169.254.169.254",
            "168.63.129.16",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::]",
            "[::1]",
            "[::127.0.0.1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:8.8.8.8]",
            "[::ffff:a00:1]",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b:1::808:808]",
            "[2002:7f00:1::]",
            "[2001:0:808:808::]",
            "[2001:db8::1]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[fec0::1]",
            "[ff02::1]",
            "metadata.google.internal",
            "METADATA.google.internal.",
            "instance-data",
        ] {
            assert!(refused(&format!("http://{host}/")), "{host}");
        }
    }

    #[test]
    fn public_addresses_and_names_pass() {
        for host in [
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "[2606:4700::1111]",
            "[64:ff9b::808:808]",
            "[2002:808:808::1]",
            "example.com",
            "xn--bcher-kva.example",
        ] {
            assert!(!refused(&format!("http://{host}/")), "{host}");
        }
    }

    #[tokio::test]
    async fn one_refused_address_refuses_the_name() {
        let reach = Reach::default().with_names(|name| {
            Box::pin(async move {
                Ok(match name.as_str() {
                    "good.test" => vec![IpAddr::from([8, 8, 8, 8])],
                    "both.test" => vec![IpAddr::from([8, 8, 8, 8]), IpAddr::from([10, 0, 0, 1])],
                    _ => Vec::new(),
                })
            })
        });
        assert_eq!(Reach::resolve(&reach, "good.test").await.unwrap().len(), 1);
        let error = Reach::resolve(&reach, "both.test").await.unwrap_err().to_string();
        assert_eq!(error, "`both.test` is a private address: only public addresses are reached");
        assert!(Reach::resolve(&reach, "none.test").await.is_err());
        let local = Reach::resolve(&Reach::default(), "localhost").await.unwrap_err().to_string();
        assert!(local.contains("loopback"), "{local}");
    }

    proptest! {
        #[test]
        fn what_std_calls_special_is_refused(bits: u32) {
            let ip = Ipv4Addr::from_bits(bits);
            let special = ip.is_private() || ip.is_loopback() || ip.is_link_local()
                || ip.is_multicast() || ip.is_broadcast() || ip.is_documentation()
                || ip.is_unspecified();
            prop_assert!(!special || Reach::public(ip.into()).is_err());
            prop_assert!(Reach::public(ip.to_ipv6_mapped().into()).is_err());
        }
    }
}
