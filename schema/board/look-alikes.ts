import confusables from 'unhomoglyph/data.json' with { type: 'json' };

/*
 * Letters of other scripts that are drawn as a Latin one: Unicode's confusables (UTS 39, of one letter), and before them those
 * which are taken for another letter than Unicode says, or that it does not name.
 */

const ours: Readonly<Record<string, string>> = {
  a: 'аαɑᴀ',
  b: 'ьβʙƅ',
  c: 'сϲᴄ',
  d: 'ԁᴅđ',
  e: 'еεᴇҽ',
  f: 'ꜰſ',
  g: 'ɡɢց',
  h: 'һհʜн',
  i: 'іιıɩɪ',
  j: 'јϳᴊ',
  k: 'кκᴋ',
  l: 'ӏʟłǀ',
  m: 'мᴍ',
  n: 'ոпηɴ',
  o: 'оοσօᴏø',
  p: 'рρᴘ',
  q: 'ԛգ',
  r: 'гʀ',
  s: 'ѕꜱ',
  t: 'тτᴛ',
  u: 'υսцᴜʋ',
  v: 'νѵᴠ',
  w: 'ѡԝωᴡ',
  x: 'хχ',
  y: 'уγʏү',
  z: 'ᴢʐ',
};

const drawn: ReadonlyMap<string, string> = new Map([
  ...Object.entries(confusables as Readonly<Record<string, string>>).flatMap(([letter, as]) => pairOf(letter, as)),
  ...Object.entries(ours).flatMap(([as, letters]) => [...letters].map(letter => [letter, as] as const)),
]);

/** Unicode writes m as `rn`. */
function pairOf(letter: string, as: string): readonly (readonly [string, string])[] {
  const plain = bare(as);
  const one = plain === 'rn' ? 'm' : plain;
  return /^[a-z0-9]$/i.test(one) && !/\p{ASCII}/u.test(letter) ? [[letter, one]] : [];
}

/** Without accents. */
function bare(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '');
}

/** Without accents, each letter as the Latin one that it is drawn as; case is left as it is. */
export function latinLetters(text: string): string {
  return bare(text).replace(/[^\p{ASCII}]/gu, letter => {
    const small = letter.toLowerCase();
    const as = drawn.get(letter) ?? drawn.get(small);
    if (as === undefined) return letter;
    return small === letter ? as : as.toUpperCase();
  });
}
