//! Redirections: what they read and write, and what they put in the place of standard input
//! and output.

use brush_parser::ast::{self, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect};

use super::{
    super::{How, agree, cwd::Cwds, effect, word},
    Walker,
};

impl Walker<'_> {
    pub(super) fn redirects(&mut self, list: Option<&ast::RedirectList>, cwds: &Cwds) {
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, cwds);
        }
    }

    pub(super) fn redirect(&mut self, redirect: &IoRedirect, cwds: &Cwds) {
        match redirect {
            IoRedirect::File(fd, kind, target) => {
                if may_open_output_to_read(*fd, kind, target) {
                    self.unclear("standard output or error may become a file opened to read");
                }
                self.file_redirect(kind, target, cwds);
            }
            IoRedirect::OutputAndError(word, _) => {
                self.redirect_target(word, &[How::Write], cwds);
            }
            IoRedirect::HereString(_, word) => {
                self.heard.push(vec!["<<<".into(), agree::plain(&word.value)]);
                self.word(word, cwds);
            }
            IoRedirect::HereDocument(_, document) => {
                self.heard.push(vec!["<<".into(), agree::plain(&document.here_end.value)]);
                if document.requires_expansion {
                    let found = word::read_heredoc(&document.doc.value, &self.values);
                    let span = self.place.of(document.doc.loc.as_ref());
                    self.found(found, cwds, span);
                }
            }
        }
    }

    fn file_redirect(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        cwds: &Cwds,
    ) {
        let how: &[How] = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => &[How::Read],
            IoFileRedirectKind::ReadAndWrite => &[How::Read, How::Write],
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Append
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => &[How::Write],
        };
        match target {
            IoFileRedirectTarget::Filename(word) => self.redirect_target(word, how, cwds),
            IoFileRedirectTarget::Fd(number) => {
                self.heard.push(vec![">".into(), number.to_string()]);
            }
            IoFileRedirectTarget::Duplicate(word) => {
                let number = word.value.trim_end_matches('-');
                if number.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.heard.push(vec![">".into(), agree::plain(&word.value)]);
                } else {
                    self.redirect_target(word, how, cwds);
                }
            }
            IoFileRedirectTarget::ProcessSubstitution(kind, shell) => {
                let raw = match kind {
                    ast::ProcessSubstitutionKind::Read => "<(",
                    ast::ProcessSubstitutionKind::Write => ">(",
                };
                self.heard.push(vec![">".into(), raw.into()]);
                self.list(&shell.list, cwds);
            }
        }
    }

    fn redirect_target(&mut self, word: &ast::Word, how: &[How], cwds: &Cwds) {
        self.heard.push(vec![">".into(), agree::plain(&word.value)]);
        let word = self.word(word, cwds);
        let is_one = word.text.is_some() || (word.wild.is_none() && !word.splits);
        for how in how {
            let touches = &mut self.out.redirects;
            let touched = match &word.text {
                Some(path) => {
                    cwds.touch(*how, path, false, touches);
                    Ok(())
                }
                None => effect::path(&word, *how, true, cwds, touches),
            };
            if touched.is_err() || !is_one {
                let why = format!("the target `{}` of a redirection is not fixed text", word.raw);
                self.out.opens.get_or_insert_with(|| why.clone());
                self.unclear(why);
            }
        }
    }
}

/// Whether a redirection puts something else in the place of standard input.
pub(super) fn feeds(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(_, kind, _) => matches!(
            kind,
            IoFileRedirectKind::Read
                | IoFileRedirectKind::ReadAndWrite
                | IoFileRedirectKind::DuplicateInput
        ),
        IoRedirect::HereString(..) | IoRedirect::HereDocument(..) => true,
        IoRedirect::OutputAndError(..) => false,
    }
}

/// Whether a redirection may mix another output into standard output.
pub(super) fn mixes(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(_, kind, _) => matches!(kind, IoFileRedirectKind::DuplicateOutput),
        IoRedirect::OutputAndError(..) => true,
        IoRedirect::HereString(..) | IoRedirect::HereDocument(..) => false,
    }
}

/// Whether descriptor 1 or 2 may end up as one that was only opened to read: by its name
/// (`/dev/stdout`) a program could then write to a file that nobody judged as written.
fn may_open_output_to_read(
    fd: Option<ast::IoFd>,
    kind: &IoFileRedirectKind,
    target: &IoFileRedirectTarget,
) -> bool {
    let is_output = |fd: i64| matches!(fd, 1 | 2);
    let (usual, copies) = match kind {
        IoFileRedirectKind::Read => (0, false),
        IoFileRedirectKind::DuplicateInput => (0, true),
        IoFileRedirectKind::DuplicateOutput => (1, true),
        IoFileRedirectKind::ReadAndWrite
        | IoFileRedirectKind::Write
        | IoFileRedirectKind::Append
        | IoFileRedirectKind::Clobber => return false,
    };
    if !is_output(fd.map_or(usual, i64::from)) {
        return false;
    }
    let from = match target {
        IoFileRedirectTarget::Fd(from) => Some(i64::from(*from)),
        // `>&word`: a number, a number that moves (`3-`), a dash that closes, or a file.
        IoFileRedirectTarget::Duplicate(word) => match word.value.trim_end_matches('-') {
            "" => return false,
            number => number.parse().ok(),
        },
        IoFileRedirectTarget::Filename(_) | IoFileRedirectTarget::ProcessSubstitution(..) => None,
    };
    match (copies, from) {
        (true, Some(from)) => !is_output(from),
        (true, None) => matches!(kind, IoFileRedirectKind::DuplicateInput),
        (false, _) => true,
    }
}
