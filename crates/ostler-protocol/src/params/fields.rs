//! The names of a params type's fields in declaration order, which is the order of the
//! documentation. Never reads a value.

use serde::{
    Deserializer,
    de::{DeserializeOwned, Visitor, value::Error},
    forward_to_deserialize_any,
};

/// The fields of a struct; `None` for any other type, or where serde does not know them.
pub(super) fn of<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let mut fields = None;
    // It fails by design, once it has told the names.
    let told = T::deserialize(Teller(&mut fields));
    drop(told);
    fields
}

struct Teller<'a>(&'a mut Option<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Teller<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("only a struct has fields"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(fields);
        Err(serde::de::Error::custom("names are all that is asked for"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
        ignored_any
    }
}
