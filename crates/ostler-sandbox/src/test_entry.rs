//! Lets a test program be its own supervisor although its `main` is the harness's: the
//! role is taken before `main` begins. For tests only (feature `test-entry`); Ostler's
//! own `main` calls [`crate::supervisor_main`].
#![expect(unsafe_code, reason = "a function that runs before main needs a link section")]

// SAFETY: the loader calls what stands in this section, one after another in the only
// thread, after the C library and std's arguments are set up; `enter` matches the
// expected type but for arguments that it does not look at.
#[used]
#[unsafe(link_section = ".init_array")]
static ENTRY: extern "C" fn() = enter;

extern "C" fn enter() {
    if let Some(code) = crate::supervise::serve_if_asked() {
        #[expect(clippy::exit, reason = "there is no main to return from yet")]
        std::process::exit(code.into());
    }
}

#[cfg(test)]
mod tests {
    use ostler_stdx::{AbsPath, Cancel};

    use crate::{Command, Supervisor};

    #[tokio::test]
    async fn an_ordinary_test_program_is_its_own_supervisor() {
        let supervisor = Supervisor::start(std::env::current_exe().unwrap()).unwrap();
        let command = Command::new("echo", AbsPath::root()).arg("it runs");
        let exit = supervisor.run(&command, &Cancel::new(), |_, _| {}).await.unwrap();
        assert_eq!(exit.stdout.to_text(), "it runs\n");
        supervisor.shutdown().await;
    }
}
