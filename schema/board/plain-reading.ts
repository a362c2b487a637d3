import { latinLetters } from './look-alikes.ts';

/*
 * The plain reading of a text: encoded, invisible and look-alike characters are replaced. Used for judging alone; a
 * text is stored as it was written. Pure.
 */

/** Maximum number of encodings inside each other. */
const LAYERS_MAX = 5;

/** The named entities of HTML by which a link can be spelled. */
const entities: Readonly<Record<string, string>> = {
  period: '.',
  sol: '/',
  colon: ':',
  commat: '@',
  num: '#',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  quest: '?',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  tab: '\t',
  newline: '\n',
  shy: '',
  lpar: '(',
  rpar: ')',
  lbrack: '[',
  rbrack: ']',
  lsqb: '[',
  rsqb: ']',
  zerowidthspace: '',
  zwj: '',
  zwnj: '',
  equals: '=',
  bsol: '\\',
};

type Encoding = readonly [spelling: RegExp, plain: (spelt: string) => string];

const encodings: readonly Encoding[] = [
  [/&#x0*([0-9a-f]{1,6});?/gi, digits => character(digits, 16)],
  [/&#0*([0-9]{1,7});?/g, digits => character(digits, 10)],
  [/&([a-z]{2,14});/gi, name => entities[name.toLowerCase()] ?? `&${name};`],
  // Whole runs: beyond ASCII a character is several bytes.
  [/((?:%[0-9a-f]{2})+)/gi, bytes => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8')],
  [/\\u\{0{0,16}([0-9a-f]{1,6})\}/gi, digits => character(digits, 16)],
  [/\\u([0-9a-f]{4})/gi, digits => character(digits, 16)],
  [/\\x([0-9a-f]{2})/gi, digits => character(digits, 16)],
  // Escapes that Markdown shows as the sign alone (CommonMark 2.4), for the signs that links are made of.
  [/(?<!\\)\\{1,64}([.:/@_-])/g, sign => sign],
  // Spellings by which people keep programs from following a name.
  [/\s?[[({<]\s?(?:\.|dot|punkt)\s?[\])}>]\s?/gi, () => '.'],
];

/**
 * Quoted-printable (RFC 2045 6.7), and the escapes of CSS and of octal. Only the characters that links are made of are decoded, since
 * digits follow these signs in plain text too.
 */
const linkEncodings: readonly Encoding[] = [
  [/=(2E|2F|3A)/gi, digits => character(digits, 16)],
  [/\\0{0,4}(2e|2f|3a)\s?/gi, digits => character(digits, 16)],
  [/\\0?(56|57|72)(?!\d)/g, digits => character(digits, 8)],
];

function character(digits: string, radix: number): string {
  const point = Number.parseInt(digits, radix);
  return point <= 0x10ffff ? String.fromCodePoint(point) : '';
}

/** Signs that NFKC does not fold and that are read as a dot, a slash, a colon, a hyphen. */
const signs: readonly (readonly [spelling: RegExp, sign: string])[] = [
  [
    /[\u00b0\u00b7\u02d9\u0387\u0589\u0660\u06d4\u0701\u0702\u07f8\u1362\u16eb\u2022\u2025\u2027\u2218\u2219\u22c5\u2e31\u2e33\u3002\u30fb\ua4f8\ua60e]/g,
    '.',
  ],
  [/[\u1735\u2044\u2215\u2571\u27cb\u29f8\u2cc6\u3033]/g, '/'],
  [/[\u02d0\u02f8\u05c3\u0703\u0704\u205a\u2236\ua789]/g, ':'],
  [/[\u02d7\u2010-\u2015\u2043\u2212]/g, '-'],
];

/** Characters that are drawn as nothing (Unicode 5.21): two texts that differ only in them look alike. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

interface PlainReadings {
  /** The reading in which links are looked for. */
  readonly plain: string;
  /** The same without decoding the encodings of links, for finding secrets: the first digits of `pk=2f00…` are not a slash. */
  readonly digits_kept: string;
}

/**
 * Decoded, folded (NFKC) and without invisible characters; case is kept. Null if it is nested deeper than legitimate
 * text.
 */
export function readPlain(text: string): PlainReadings | null {
  const digits_kept = decodeLayers(text, encodings);
  const plain = decodeLayers(text, [...encodings, ...linkEncodings]);
  return digits_kept === null || plain === null ? null : { digits_kept, plain };
}

function decodeLayers(text: string, by: readonly Encoding[]): string | null {
  let plain = foldSigns(text);
  for (let layer = 0; layer < LAYERS_MAX; layer++) {
    const before = plain;
    for (const [spelling, read] of by) plain = plain.replace(spelling, (_, spelt: string) => read(spelt));
    plain = foldSigns(plain);
    if (plain === before) return plain;
  }
  return null;
}

/** NFKC turns some of these signs into accents, and an ellipsis into three dots, so signs are replaced before it and after it. */
function foldSigns(text: string): string {
  const seen = replaceSigns(text.replace(INVISIBLE, '')).normalize('NFKC').replace(INVISIBLE, '');
  return replaceSigns(seen);
}

function replaceSigns(text: string): string {
  return signs.reduce((plain, [spelling, sign]) => plain.replace(spelling, sign), text);
}

/** A plain reading in lower case, without accents, each letter replaced by the Latin one that it is drawn as. */
export function toLatin(plain: string): string {
  return latinLetters(plain).toLowerCase();
}
