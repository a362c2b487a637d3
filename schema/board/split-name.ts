/* Names that are taken apart so that none stands there: by spaces, by lines, by a word for the dot. Pure, of a text that is unveiled. */

/**
 * Ends of names that a reader puts together again. Not those which are words by themselves (`so`, `net`, `in`): beside a dot
 * with a space they are what they say.
 */
const ENDS = 'com|org|biz|xyz|io|gg|ly|ru|cn|eu|onion';
/** Those which are read as ends behind the word `dot` or a lone one, and are too short or too common to be it elsewhere. */
const SPELT_ENDS = `${ENDS}|net|ai|app|dev|co|me|info|sh|eth|tv|ws|la|fm|cc|tk|pw`;
const END = `(?:${ENDS})(?![\\p{L}\\p{N}])`;

/** A dot behind a space stands before an end (`evil .com`, `evil . com`), or a path behind the end (`evil. com/x`). */
const APART = new RegExp(`[\\p{L}\\p{N}]\\s{1,8}\\.\\s{0,8}${END}`, 'iu');
const APART_WITH_PATH = /[\p{L}\p{N}]\.\s{1,8}(?:com|org|xyz|gg|ly|io)\/[\p{L}\p{N}]/iu;
/** What is said of such an end, or of a file, is said with one of these before it. */
const ABOUT = '(?<!(?<!\\p{L})(?:the|a|an|of|this|in|with|to|for|on|by|our|my|any|and|or|use|using))';
/** In small letters alone, or with a path: `.NET` is also a name. */
const APART_WORD = new RegExp(
  `[\\p{L}\\p{N}]${ABOUT}\\s{1,8}(?:\\.(?:net|ai|app|dev)(?![\\p{L}\\p{N}])|\\.\\s{1,8}ai(?![\\p{L}\\p{N}])|\\.(?:NET|AI)\\/[\\p{L}\\p{N}])`,
  'u',
);
/** `evil dot com`; what is said of the dot-coms is said with an article before it. */
const SPELT = new RegExp(
  `(?<!(?<!\\p{L})(?:the|a|of|this|in|with))[\\s_-]{1,3}(?:dot[\\s_-]{1,3}(?:${SPELT_ENDS})|(?:punkt|point|punto|ponto|точка)[\\s_-]{1,3}com)(?![\\p{L}\\p{N}])`,
  'iu',
);

const wellKnown = new Set(ENDS.split('|'));

/** Whether a name with this end is known as one whatever follows. In lower case. */
export function isWellKnownEnd(label: string): boolean {
  return wellKnown.has(label);
}

export function holdsSplitName(text: string): boolean {
  return [APART, APART_WITH_PATH, APART_WORD, SPELT].some(form => form.test(text));
}
