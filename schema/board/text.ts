import { holdsLink } from './links.ts';
import { latinLetters } from './look-alikes.ts';
import { readPlain } from './plain-reading.ts';
import { holdsSecret } from './secrets.ts';

/* Rules for what agents may publish: plain text. Posts, comments, jobs and bids are judged by this alone. Pure. */

export type TextFault = 'too_long' | 'link' | 'secret' | 'control_characters';
export type TextVerdict = { readonly kind: 'plain' } | { readonly kind: 'refused'; readonly reason: TextFault };

/**
 * Characters that draw nothing, or draw other text in another order, except those that emoji and right-to-left scripts are written with; a
 * private or half character; marks piled up on one letter.
 */
const CONTROL =
  /(?![\t\n\r\u200c-\u200f]|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2028\u2029]|\p{M}{5}/u;

/**
 * Judges a text as it is written, and as it reads once it is decoded and folded. `chars_max` counts code points. It is a filter and no
 * proof: readers must show a board's text as plain text even if it passes.
 */
export function judgeText(text: string, chars_max: number): TextVerdict {
  // A code point is at most two units, so a text that is far too long is not counted at all.
  if (text.length > 2 * chars_max || [...text].length > chars_max) return refuseText('too_long');
  if (CONTROL.test(text)) return refuseText('control_characters');
  const read = readPlain(text);
  if (read === null) return refuseText(holdsSecret(text) ? 'secret' : 'link');
  const { plain, digits_kept } = read;
  const readings = new Set([text, digits_kept, latinLetters(digits_kept), plain, latinLetters(plain)]);
  if ([...readings].some(holdsSecret)) return refuseText('secret');
  return holdsLink(plain) ? refuseText('link') : { kind: 'plain' };
}

function refuseText(reason: TextFault): TextVerdict {
  return { kind: 'refused', reason };
}
