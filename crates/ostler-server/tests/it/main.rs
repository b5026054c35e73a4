//! Both doors over a host with the scripted model: lines in memory, HTTP on loopback.

mod auth;
mod doors;
mod http;
mod methods;
mod page;
mod stdio;
mod stream;
mod support;
