//! When the web page is built, and when not.

use crate::repo::{Repo, said};

fn page(repo: &Repo) -> std::io::Result<()> {
    repo.write("web/package.json", "{\"scripts\":{\"lint\":\"x\"}}")?;
    repo.write("web/package-lock.json", "{}")?;
    repo.write("web/src/main.ts", "one")
}

#[test]
fn page_is_built_when_its_inputs_changed_and_packages_when_the_lock_did() {
    let repo = Repo::new().unwrap();
    page(&repo).unwrap();
    assert!(repo.xtask(&["web"]).unwrap().status.success());
    let install = "npm ci --no-audit --no-fund";
    assert_eq!(repo.calls(), [install, "npm run typecheck", "npm run build"]);
    assert!(repo.path("web/dist/.inputs-hash").is_file());

    let output = repo.xtask(&["web"]).unwrap();
    assert!(said(&output).contains("skipped: built already"), "{}", said(&output));
    assert_eq!(repo.calls(), [""; 0]);

    repo.write("web/src/main.ts", "two").unwrap();
    assert!(repo.xtask(&["web"]).unwrap().status.success());
    assert_eq!(repo.calls(), ["npm run typecheck", "npm run build"]);

    assert!(repo.xtask(&["web", "--force"]).unwrap().status.success());
    assert_eq!(repo.calls(), ["npm run typecheck", "npm run build"]);
}

#[test]
fn build_that_makes_an_input_is_done_once_more() {
    let repo = Repo::new().unwrap().with("FAKE_MAKES", "once");
    page(&repo).unwrap();
    assert!(repo.xtask(&["web"]).unwrap().status.success());
    let builds = repo.calls().iter().filter(|call| *call == "npm run build").count();
    assert_eq!(builds, 2);
    assert!(repo.xtask(&["web"]).unwrap().status.success());
    assert_eq!(repo.calls(), [""; 0]);
}

#[test]
fn inputs_that_never_settle_are_an_error() {
    let repo = Repo::new().unwrap().with("FAKE_MAKES", "always");
    page(&repo).unwrap();
    let output = repo.xtask(&["web"]).unwrap();
    assert!(!output.status.success());
    assert!(
        said(&output).contains("changed while it was built: run it again"),
        "{}",
        said(&output)
    );
    assert!(!repo.path("web/dist/.inputs-hash").exists());
}

#[test]
fn old_node_is_refused_with_what_to_install() {
    let repo = Repo::new().unwrap().with("FAKE_NODE", "18.20.0");
    page(&repo).unwrap();
    let output = repo.xtask(&["web"]).unwrap();
    let wanted = "`node` is v18.20.0, which is too old: install Node 20.19 or newer, with npm";
    assert!(said(&output).contains(wanted), "{}", said(&output));
}
