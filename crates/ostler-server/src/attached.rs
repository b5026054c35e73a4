//! A front end's connection to the host, which ends with the value that holds it.

use ostler_host::{
    Attachment, Host, Published,
    outlet::{Outlet, Slow},
};

/// Detaches when it is dropped.
#[derive(Debug)]
pub(crate) struct Attached {
    host: Host,
    client: String,
    attachment: Attachment,
}

impl Attached {
    pub(crate) fn new(host: Host, client: String, slow: Slow, everything: bool) -> Self {
        let attachment = host.attach(&client, slow, everything);
        Self { host, client, attachment }
    }

    pub(crate) fn events(&self) -> &Outlet<Published> {
        &self.attachment.events
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.host.detach(&self.client, &self.attachment);
    }
}
