//! Thrift's compact protocol, as far as Parquet's own descriptions need it.
//!
//! Example: `Struct::new(&mut out)`, `number(1, 2)`, `end()` is a structure whose field 1 is the number 2.

const NUMBER: u8 = 6; // 64 bits; numbers of 32 bits are written alike
const NUMBER_32: u8 = 5;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure that is being written, field by field in ascending order.
pub struct Struct<'a> {
    out: &'a mut Vec<u8>,
    last: i16,
}

/// Fields of Parquet's structures that are 64 bits wide are told from those of 32 by their callers.
impl<'a> Struct<'a> {
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: 0 }
    }

    /// A number or enumeration of 32 bits.
    pub fn number(&mut self, field: i16, value: i64) {
        self.head(field, NUMBER_32);
        varint(self.out, zigzag(value));
    }

    /// A number of 64 bits.
    pub fn long(&mut self, field: i16, value: i64) {
        self.head(field, NUMBER);
        varint(self.out, zigzag(value));
    }

    pub fn bytes(&mut self, field: i16, value: &[u8]) {
        self.head(field, BYTES);
        self.value(value);
    }

    pub fn numbers(&mut self, field: i16, values: &[i64]) {
        self.list(field, NUMBER_32, values.len());
        for value in values {
            varint(self.out, zigzag(*value));
        }
    }

    pub fn texts(&mut self, field: i16, values: &[&str]) {
        self.list(field, BYTES, values.len());
        for value in values {
            self.value(value.as_bytes());
        }
    }

    pub fn nested(&mut self, field: i16, write: impl FnOnce(&mut Struct<'_>)) {
        self.head(field, STRUCT);
        let mut inner = Struct::new(self.out);
        write(&mut inner);
        inner.end();
    }

    pub fn structs(&mut self, field: i16, count: usize, write: impl Fn(usize, &mut Struct<'_>)) {
        self.list(field, STRUCT, count);
        for index in 0..count {
            let mut inner = Struct::new(self.out);
            write(index, &mut inner);
            inner.end();
        }
    }

    pub fn end(self) {
        self.out.push(0);
    }

    fn head(&mut self, field: i16, kind: u8) {
        // Fields of Parquet lie less than 16 apart.
        self.out.push(((field - self.last) as u8) << 4 | kind);
        self.last = field;
    }

    fn list(&mut self, field: i16, kind: u8, count: usize) {
        self.head(field, LIST);
        if count < 15 {
            self.out.push((count as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            varint(self.out, count as u64);
        }
    }

    fn value(&mut self, value: &[u8]) {
        varint(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }
}

/// A number in groups of seven bits, the lowest first.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Numbers near zero become small ones, with or without a sign.
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}
