import { isTopLevel } from './top-level.ts';
import { latinised } from './unveil.ts';

/* Whether a text leads anywhere. Pure, of a text that is unveiled. */

/** What needs no two slashes to lead somewhere; one that stands before a space is a word. */
const SCHEMES =
  'mailto tel sms javascript vbscript data file blob view-source intent magnet bitcoin litecoin lightning ethereum solana nano ' +
  'xno monero ipfs ipns nostr tg whatsapp skype facetime ssh sftp ftp nntp irc xmpp sip sips ws wss ldap jar http https hxxp hxxps';

const SLASHED = /[a-z][a-z0-9+.-]{0,31}\s?:\s?[/\\]{2}/i;
const SCHEMED = new RegExp(`(?<![\\p{L}\\p{N}])(?:${SCHEMES.split(' ').join('|')}):[^\\s:]`, 'iu');
const WWW = /(?<![\p{L}\p{N}])www\d{0,3}\.[\p{L}\p{N}]/iu;
const DOTTED = /[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu;
/** Four numbers that an IPv4 address may have. */
const ADDRESS = /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)/;
const BRACKETED = /\[[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\]/i;

/**
 * A scheme, `www.`, an address, or a bare name that ends as names of the DNS do. A sentence that begins without a space behind
 * the last one's dot may look like that (`slow.It`), and is taken for one: nobody can tell them apart who does not follow it.
 */
export function holdsLink(plain: string): boolean {
  return [plain, latinised(plain)].some(
    text => [SLASHED, SCHEMED, WWW, ADDRESS, BRACKETED].some(form => form.test(text)) || holdsName(text),
  );
}

function holdsName(text: string): boolean {
  for (const [name] of text.matchAll(DOTTED)) {
    const [, ...ends] = name.toLowerCase().normalize('NFC').split('.');
    if (ends.some(isTopLevel)) return true;
  }
  return false;
}
