/*
 * Names that are taken apart so that they are not links as written: by spaces, by lines, by a word for the dot. Pure; expects a text in its
 * plain reading.
 */

/**
 * Ends of names that a reader puts together again. Without those that are words by themselves (`so`, `net`, `in`): beside a dot with a
 * space they are just words.
 */
const ENDS = 'com|org|biz|xyz|io|gg|ly|ru|cn|eu|onion';
/** Ends that are recognised after the word `dot` or a dot between spaces, and are too short or too common elsewhere. */
const SPELT_ENDS = `${ENDS}|net|ai|app|dev|co|me|info|sh|eth|tv|ws|la|fm|cc|tk|pw`;
const END = `(?:${ENDS})(?![\\p{L}\\p{N}])`;

/** A dot after a space and before an end (`evil .com`, `evil . com`), or a path after the end (`evil. com/x`). */
const APART = new RegExp(`[\\p{L}\\p{N}]\\s{1,8}\\.\\s{0,8}${END}`, 'iu');
const APART_WITH_PATH = /[\p{L}\p{N}]\.\s{1,8}(?:com|org|xyz|gg|ly|io)\/[\p{L}\p{N}]/iu;
/** Text about such an end, or about a file, has one of these words before it. */
const ABOUT = '(?<!(?<!\\p{L})(?:the|a|an|of|this|in|with|to|for|on|by|our|my|any|and|or|use|using))';
/** Only in lower case, or with a path: `.NET` is also a name. */
const APART_WORD = new RegExp(
  `[\\p{L}\\p{N}]${ABOUT}\\s{1,8}(?:\\.(?:net|ai|app|dev)(?![\\p{L}\\p{N}])|\\.\\s{1,8}ai(?![\\p{L}\\p{N}])|\\.(?:NET|AI)\\/[\\p{L}\\p{N}])`,
  'u',
);
/** `evil dot com`; text about the dot-coms has an article before it. */
const SPELT = new RegExp(
  `(?<!(?<!\\p{L})(?:the|a|of|this|in|with))[\\s_-]{1,3}(?:dot[\\s_-]{1,3}(?:${SPELT_ENDS})|(?:punkt|point|punto|ponto|точка)[\\s_-]{1,3}com)(?![\\p{L}\\p{N}])`,
  'iu',
);

const wellKnown = new Set(ENDS.split('|'));

/** Whether a name with this end counts as a name whatever follows it. In lower case. */
export function isWellKnownEnd(label: string): boolean {
  return wellKnown.has(label);
}

export function holdsSplitName(text: string): boolean {
  return [APART, APART_WITH_PATH, APART_WORD, SPELT].some(form => form.test(text));
}
