/* Names that are taken apart so that none stands there: by spaces, by lines, by a word for the dot. Pure, of a text that is unveiled. */

/**
 * Ends of names that a reader puts together again. Not those which are words by themselves (`so`, `net`, `in`): beside a dot
 * with a space they are what they say.
 */
const ENDS = 'com|org|biz|xyz|io|gg|ly|ru|cn|eu|onion';
const END = `(?:${ENDS})(?![\\p{L}\\p{N}])`;

/** A dot behind a space stands before an end (`evil .com`, `evil . com`), or a path behind the end (`evil. com/x`). */
const APART = new RegExp(`[\\p{L}\\p{N}]\\s{1,8}\\.\\s{0,8}${END}`, 'iu');
const APART_WITH_PATH = /[\p{L}\p{N}]\.\s{1,8}(?:com|org|xyz|gg|ly)\/[\p{L}\p{N}]/iu;
/** `evil dot com`; what is said of the dot-coms is said with an article before it. */
const SPELT = new RegExp(
  `(?<!(?<!\\p{L})(?:the|a|of|this|in|with))[\\s_-]{1,3}(?:dot[\\s_-]{1,3}(?:net|${ENDS})|(?:punkt|point|punto|ponto|точка)[\\s_-]{1,3}com)(?![\\p{L}\\p{N}])`,
  'iu',
);

export function holdsSplitName(text: string): boolean {
  return [APART, APART_WITH_PATH, SPELT].some(form => form.test(text));
}
