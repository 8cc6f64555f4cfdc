//! Options that are one word out of a few: arrival processes, backends, kinds of content.
//!
//! [`words!`] declares such a choice once: each variant has its word and, as doc comment, its meaning, which the
//! reference page repeats. An unknown word is refused with a hint: the nearest valid word, or all of them.

use serde_json::Value;

use crate::error::WorkloadError;
use crate::nearest::hint;
use crate::option::not_a;

/// Declares a choice of words: an enum whose variants each have a word and a meaning (the doc comment). After the noun may follow
/// the variant that is its default.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident: $noun:literal $(, default $default:ident)? { $( $(#[doc = $meaning:literal])+ $variant:ident = $word:literal, )+ }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[doc = $meaning])+ $variant, )+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The word used in files and results.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        $(
            impl Default for $name {
                fn default() -> Self {
                    Self::$default
                }
            }
        )?

        impl $crate::option::Kind for $name {
            const NOUN: &'static str = $noun;
            const FORM: &'static str = "one of the words listed with the option.";

            fn read(value: &$crate::serde_json::Value) -> Result<Self, $crate::error::WorkloadError> {
                let named = |variant: &&Self| Some(variant.name()) == value.as_str();
                match Self::ALL.iter().find(named) {
                    Some(variant) => Ok(*variant),
                    None => Err($crate::words::not_a_word(value, $noun, &[$($word),+])),
                }
            }

            fn write(&self) -> $crate::serde_json::Value {
                self.name().into()
            }

            fn show(&self) -> String {
                self.name().to_owned()
            }

            fn schema(_: Option<$crate::option::Range>) -> $crate::serde_json::Value {
                $crate::serde_json::json!({ "enum": [$($word),+] })
            }

            fn words() -> Vec<(&'static str, String)> {
                vec![$( ($word, concat!($($meaning),+).trim().to_owned()), )+]
            }
        }
    };
}

/// The refusal of a word, with the nearest valid one or all of them.
pub fn not_a_word(value: &Value, noun: &'static str, words: &[&'static str]) -> WorkloadError {
    let near = value.as_str().and_then(|text| hint(text, words.iter().copied()));
    let advice = near.unwrap_or_else(|| format!("write {}", alternatives(words)));
    not_a(value, noun, advice).into()
}

/// "a, b or c".
pub(crate) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}
