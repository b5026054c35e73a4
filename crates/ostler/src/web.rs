//! `ostler web`: the page, HTTP and server-sent events.

use std::io::Write as _;

use crate::{
    args::WebArgs,
    exit::{self, Exit},
    open_host,
    serve::start_log,
    signals::{Signals, Told},
};

/// Serves until the process is told to end.
pub(crate) fn web(args: &WebArgs) -> Exit {
    start_log();
    let host = open_host(args.model.clone());
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return exit::fail(Exit::Failed, &error.to_string(), None),
        };
    let exit = runtime.block_on(async {
        let options = ostler_server::WebOptions { host: args.host.clone(), port: args.port };
        let web = match ostler_server::serve_web(host.clone(), options).await {
            Ok(web) => web,
            Err(error) => return exit::fail(Exit::Failed, &error.to_string(), error.hint()),
        };
        let printed = exit::written(writeln!(std::io::stdout(), "{}", web.opening_link()));
        if printed != Exit::Ok {
            return printed;
        }
        if !args.no_open {
            open_browser(&host, web.opening_link()).await;
        }
        let exit = match Signals::new() {
            Ok(mut signals) => match signals.next().await {
                Told::Interrupt => Exit::Interrupted,
                Told::Terminate => Exit::Terminated,
            },
            Err(error) => exit::fail(Exit::Failed, &error.to_string(), None),
        };
        web.stop().await;
        host.shutdown().await;
        exit
    });
    runtime.shutdown_background();
    exit
}

/// Opens the link with the desktop's own program; a person can also copy it.
async fn open_browser(host: &ostler_host::Host, link: &str) {
    let hint = "open the link above in a browser on this machine";
    if let Err(why) = host.open_link(link).await {
        writeln!(std::io::stderr(), "no browser was opened ({why}); {hint}").unwrap_or_default();
    }
}
