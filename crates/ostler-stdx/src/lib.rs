//! What std lacks and every crate of Ostler needs: absolute paths, bounded text,
//! cancellation, clocks and ids. No I/O, no policy.

mod abs_path;
mod address;
mod bounded;
mod cancel;
mod clock;
mod ids;
mod never;
mod surrogates;

pub use abs_path::{AbsPath, NotAbsolute};
pub use address::public_address;
pub use bounded::{Bounded, bound_middle, floor_char_boundary};
pub use cancel::Cancel;
pub use clock::{Clock, ManualClock, SystemClock};
pub use ids::IdGen;
pub use surrogates::mend_surrogates;
