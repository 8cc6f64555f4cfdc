//! A column of a group of rows: its pages, and what the end of the file says of it.

use crate::columns::{Cells, Texts};
use crate::parquet::dictionary::{Dictionary, text_hash};
use crate::parquet::pack;
use crate::parquet::thrift::{Struct, varint};

pub const INT32: i64 = 1;
pub const INT64: i64 = 2;
pub const BYTE_ARRAY: i64 = 6;

const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DIFFERENCES: i64 = 5;
const LENGTHS_AND_TEXTS: i64 = 6;
const BY_DICTIONARY: i64 = 8;

const UNCOMPRESSED: i64 = 0;
const LZ4_RAW: i64 = 7;

const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;

/// Rows of a page that is not written by a dictionary.
const ROWS_PER_PAGE: usize = 20_000;

/// A column of a group, written.
#[derive(Debug)]
pub struct ColumnChunk {
    stored: i64,
    encodings: &'static [i64],
    codec: i64,
    values: usize,
    /// With the heads of pages, before it was compressed.
    pub plain_bytes: u64,
    bytes: u64,
    dictionary_offset: Option<u64>,
    data_offset: u64,
    /// Of numbers: the least and the most, as they are stored.
    range: Option<[Vec<u8>; 2]>,
}

impl ColumnChunk {
    /// ColumnMetaData.
    pub fn describe(&self, name: &str, out: &mut Struct<'_>) {
        out.number(1, self.stored);
        out.numbers(2, self.encodings);
        out.texts(3, &[name]);
        out.number(4, self.codec);
        out.long(5, self.values as i64);
        out.long(6, self.plain_bytes as i64);
        out.long(7, self.bytes as i64);
        out.long(9, self.data_offset as i64);
        if let Some(offset) = self.dictionary_offset {
            out.long(11, offset as i64);
        }
        out.nested(12, |statistics| {
            statistics.long(3, 0); // nulls
            if let Some([least, most]) = &self.range {
                statistics.bytes(5, most);
                statistics.bytes(6, least);
            }
        });
    }
}

/// Appends a column to `out`; `before` are the bytes of the file before those of `out`.
pub fn write_column(cells: &Cells, before: u64, out: &mut Vec<u8>) -> ColumnChunk {
    let mut pages = Pages { out, before, plain_bytes: 0, start: 0, dictionary_offset: None, data_offset: None };
    pages.start = pages.offset();
    let (stored, how) = match cells {
        Cells::Long(values) => {
            (INT64, write_numbers(values, |value| value as u64, |value| value.to_le_bytes().to_vec(), &mut pages))
        }
        Cells::Short(values) => (
            INT32,
            write_numbers(values, |value| i64::from(value) as u64, |value| value.to_le_bytes().to_vec(), &mut pages),
        ),
        Cells::Text(texts) => (BYTE_ARRAY, write_texts(texts, &mut pages)),
    };
    let values = match cells {
        Cells::Long(values) => values.len(),
        Cells::Short(values) => values.len(),
        Cells::Text(texts) => texts.ends.len() - 1,
    };
    ColumnChunk {
        stored,
        encodings: how.encodings,
        codec: how.codec,
        values,
        plain_bytes: pages.plain_bytes,
        bytes: pages.offset() - pages.start,
        dictionary_offset: pages.dictionary_offset,
        data_offset: pages.data_offset.unwrap_or(pages.start),
        range: how.range,
    }
}

/// How a column was written.
struct How {
    encodings: &'static [i64],
    codec: i64,
    range: Option<[Vec<u8>; 2]>,
}

fn write_numbers<T: Copy + Ord + Into<i64>>(
    values: &[T],
    hashed: impl Fn(T) -> u64,
    bytes: impl Fn(T) -> Vec<u8>,
    pages: &mut Pages<'_>,
) -> How {
    let range = values.iter().min().zip(values.iter().max()).map(|(least, most)| [bytes(*least), bytes(*most)]);
    let dictionary = Dictionary::of(values.len(), |place| hashed(values[place]), |a, b| values[a] == values[b]);
    if let Some(dictionary) = dictionary {
        let kept: Vec<u8> = dictionary.firsts.iter().flat_map(|first| bytes(values[*first])).collect();
        pages.by_dictionary(&dictionary, &kept);
        return How { encodings: &[PLAIN, RLE, BY_DICTIONARY], codec: UNCOMPRESSED, range };
    }
    for values in values.chunks(ROWS_PER_PAGE) {
        let mut page = Vec::with_capacity(8 * values.len());
        pack::differences(&mut page, values.iter().map(|value| (*value).into()));
        pages.data(values.len(), DIFFERENCES, &page, UNCOMPRESSED);
    }
    How { encodings: &[RLE, DIFFERENCES], codec: UNCOMPRESSED, range }
}

fn write_texts(texts: &Texts, pages: &mut Pages<'_>) -> How {
    let count = texts.ends.len() - 1;
    let dictionary = Dictionary::of(count, |place| text_hash(texts.get(place)), |a, b| texts.get(a) == texts.get(b));
    if let Some(dictionary) = dictionary {
        let mut kept = Vec::new();
        for first in &dictionary.firsts {
            let text = texts.get(*first);
            kept.extend_from_slice(&(text.len() as u32).to_le_bytes());
            kept.extend_from_slice(text);
        }
        pages.by_dictionary(&dictionary, &kept);
        return How { encodings: &[PLAIN, RLE, BY_DICTIONARY], codec: UNCOMPRESSED, range: None };
    }
    for at in (0..count).step_by(ROWS_PER_PAGE) {
        let ends = &texts.ends[at..=(at + ROWS_PER_PAGE).min(count)];
        let mut page = Vec::new();
        pack::differences(&mut page, ends.windows(2).map(|ends| i64::from(ends[1] - ends[0])));
        page.extend_from_slice(&texts.bytes[ends[0] as usize..ends[ends.len() - 1] as usize]);
        pages.data(ends.len() - 1, LENGTHS_AND_TEXTS, &page, LZ4_RAW);
    }
    How { encodings: &[RLE, LENGTHS_AND_TEXTS], codec: LZ4_RAW, range: None }
}

/// The pages of a column, one after the other.
struct Pages<'a> {
    out: &'a mut Vec<u8>,
    before: u64,
    start: u64,
    plain_bytes: u64,
    dictionary_offset: Option<u64>,
    data_offset: Option<u64>,
}

impl Pages<'_> {
    fn offset(&self) -> u64 {
        self.before + self.out.len() as u64
    }

    /// The values that recur (`kept`), then all by their numbers.
    fn by_dictionary(&mut self, dictionary: &Dictionary, kept: &[u8]) {
        self.dictionary_offset = Some(self.offset());
        self.head(DICTIONARY_PAGE, [kept.len(), kept.len()], |about| {
            about.nested(7, |page| {
                page.number(1, dictionary.firsts.len() as i64);
                page.number(2, PLAIN);
            });
        });
        self.out.extend_from_slice(kept);
        let width = pack::width(dictionary.firsts.len() as u64 - 1);
        let count = dictionary.numbers.len();
        let mut page = vec![width as u8];
        if width == 0 {
            varint(&mut page, (count as u64) << 1); // the same number all along
        } else {
            varint(&mut page, (count.div_ceil(8) as u64) << 1 | 1); // packed, in groups of eight
            let padding = std::iter::repeat_n(0, count.next_multiple_of(8) - count);
            pack::bits(&mut page, dictionary.numbers.iter().map(|number| u64::from(*number)).chain(padding), width);
        }
        self.data(count, BY_DICTIONARY, &page, UNCOMPRESSED);
    }

    fn data(&mut self, values: usize, encoding: i64, page: &[u8], codec: i64) {
        let compressed = (codec == LZ4_RAW).then(|| lz4_flex::block::compress(page));
        let body = compressed.as_deref().unwrap_or(page);
        self.data_offset.get_or_insert(self.before + self.out.len() as u64);
        self.head(DATA_PAGE, [page.len(), body.len()], |about| {
            about.nested(5, |data| {
                data.number(1, values as i64);
                data.number(2, encoding);
                data.number(3, RLE);
                data.number(4, RLE);
            });
        });
        self.out.extend_from_slice(body);
    }

    /// PageHeader; `lengths` before and after it was compressed.
    fn head(&mut self, kind: i64, lengths: [usize; 2], write: impl FnOnce(&mut Struct<'_>)) {
        let before = self.out.len();
        let mut about = Struct::new(self.out);
        about.number(1, kind);
        about.number(2, lengths[0] as i64);
        about.number(3, lengths[1] as i64);
        write(&mut about);
        about.end();
        self.plain_bytes += (self.out.len() - before + lengths[0]) as u64;
    }
}
