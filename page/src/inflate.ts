// What deflate has packed (RFC 1951), unpacked: data of long reports would be half as long again as the rest of the file together.
//
// Model: one pass over the bits, codes decoded by their lengths (canonical Huffman, one table of counts and one of symbols). Browsers can do
// this themselves, but only some of those that the page is for, and only later; the page has to be there at once.
// Limits: what is not deflate is an error; there is no check sum, since the data stands in the same file.
//
//   inflated(bytes, length)

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
/** The order in which the lengths of the code lengths are written. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const END = 256;
const LONGEST = 15;

interface Code {
  /** How many symbols have a code of each length. */
  counts: Uint16Array;
  /** The symbols in the order of their codes. */
  symbols: Uint16Array;
}

class Bits {
  private at = 0;
  private held = 0;
  private count = 0;

  constructor(private readonly bytes: Uint8Array) {}

  take(number: number): number {
    while (this.count < number) {
      if (this.at >= this.bytes.length) throw new Error("the data of this page is cut short");
      this.held |= (this.bytes[this.at++] as number) << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << number) - 1);
    this.held >>>= number;
    this.count -= number;
    return value;
  }

  symbol({ counts, symbols }: Code): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= LONGEST; length++) {
      code |= this.take(1);
      const count = counts[length] as number;
      if (code - count < first) return symbols[index + (code - first)] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error("the data of this page is damaged");
  }

  /** Whole bytes that were not packed. */
  stored(): Uint8Array {
    this.held = 0;
    this.count = 0;
    const length = (this.bytes[this.at] as number) | ((this.bytes[this.at + 1] as number) << 8);
    const found = this.bytes.subarray(this.at + 4, this.at + 4 + length);
    this.at += 4 + length;
    return found;
  }
}

function codeOf(lengths: number[]): Code {
  const counts = new Uint16Array(LONGEST + 1);
  for (const length of lengths) counts[length]! += 1;
  counts[0] = 0;
  const offsets = new Uint16Array(LONGEST + 2);
  for (let length = 1; length <= LONGEST; length++) offsets[length + 1] = (offsets[length] as number) + (counts[length] as number);
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length) symbols[offsets[length]!++] = symbol;
  });
  return { counts, symbols };
}

const FIXED: [Code, Code] = [
  codeOf(Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8))),
  codeOf(new Array<number>(30).fill(5)),
];

function dynamic(bits: Bits): [Code, Code] {
  const [literals, distances, orders] = [bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4];
  const first = new Array<number>(19).fill(0);
  for (let index = 0; index < orders; index++) first[ORDER[index] as number] = bits.take(3);
  const code = codeOf(first);
  const lengths: number[] = [];
  while (lengths.length < literals + distances) {
    const symbol = bits.symbol(code);
    if (symbol < 16) lengths.push(symbol);
    else {
      const repeated = symbol === 16 ? (lengths.at(-1) ?? 0) : 0;
      const times = symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      for (let index = 0; index < times; index++) lengths.push(repeated);
    }
  }
  return [codeOf(lengths.slice(0, literals)), codeOf(lengths.slice(literals))];
}

/** The `length` bytes that `bytes` hold. */
export function inflated(bytes: Uint8Array, length: number): Uint8Array {
  const bits = new Bits(bytes);
  const out = new Uint8Array(length);
  let at = 0;
  for (let last = 0; !last; ) {
    last = bits.take(1);
    const kind = bits.take(2);
    if (kind === 0) {
      const stored = bits.stored();
      out.set(stored, at);
      at += stored.length;
      continue;
    }
    const [literal, distance] = kind === 1 ? FIXED : dynamic(bits);
    for (;;) {
      const symbol = bits.symbol(literal);
      if (symbol === END) break;
      if (symbol < END) {
        out[at++] = symbol;
        continue;
      }
      const run = (LENGTH_BASE[symbol - 257] as number) + bits.take(LENGTH_EXTRA[symbol - 257] as number);
      const place = bits.symbol(distance);
      const back = (DISTANCE_BASE[place] as number) + bits.take(DISTANCE_EXTRA[place] as number);
      for (let end = at + run; at < end; at++) out[at] = out[at - back] as number;
    }
  }
  return out;
}

/** A text that was packed and written in base64; `length` is that of its UTF-8. */
export function unpacked(text: string, length: number): string {
  return new TextDecoder().decode(inflated(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)), length));
}
