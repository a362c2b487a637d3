import { isIPv6 } from 'node:net';
import rootZone from 'tlds' with { type: 'json' };
import { toLatin } from './plain-reading.ts';
import { holdsSplitName, isWellKnownEnd } from './split-name.ts';

/* Whether a text contains a link. Pure; expects a text in its plain reading. */

/** Schemes that make a link without two slashes; one before a space is a word. */
const SCHEMES =
  'mailto tel sms javascript vbscript data file blob view-source intent magnet bitcoin litecoin lightning ethereum ' +
  // References to payments begin like this too: network and transaction.
  'solana(?!:[0-9A-Z]{80,88}(?![\\w?/&=#])) nano(?!:[0-9A-F]{64}(?![\\w?/&=#])) ' +
  'xno monero ipfs ipns nostr tg whatsapp skype facetime ssh sftp ftp nntp irc xmpp sip sips ws wss ldap jar http https hxxp hxxps ' +
  'web\\+[a-z]{1,32} zoommtg zoomus vscode vscode-insiders otpauth otpauth-migration webcal callto sgnl viber weixin itms-apps ' +
  'itms-services ms-settings ms-word ms-excel ms-msdt search-ms msteams';

const SLASHED = /[a-z][a-z0-9+.-]{0,31}\s?:\s?[/\\]{2}/i;
const SCHEMED = new RegExp(`(?<![\\p{L}\\p{N}])(?:${SCHEMES.split(' ').join('|')}):[^\\s:]`, 'iu');
/** Browsers drop tabs and line ends anywhere in a URL (WHATWG URL 4.1), so they may break up the schemes that run what follows. */
const BROKEN_SCHEME = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${['javascript', 'vbscript'].map(scheme => [...scheme].join('[\\t\\n\\r]{0,8}')).join('|')})[\\t\\n\\r]{0,8}:`,
  'iu',
);
/** WalletConnect: its URIs always contain the version. */
const PAIRING = /(?<![\p{L}\p{N}])wc:[\w-]{1,80}@\d/iu;
const WWW = /(?<![\p{L}\p{N}])www\d{0,3}\.[\p{L}\p{N}]/iu;
/** A link that takes the scheme of the page that shows it (RFC 3986 4.2). After the slashes of a comment there is a space, or one word. */
const NO_SCHEME = /(?:^|[\s("'<=[])[/\\]{2}[\p{L}\p{N}-]{1,63}[./:\\][\p{L}\p{N}]/u;
/** A host with the port of a web server. Other numbers after a colon are too ambiguous. */
const PORT = /(?<![\p{L}\p{N}])(?:localhost:\d{2,5}|\p{L}[\p{L}\p{N}-]{0,62}:(?:80|443|8000|8080|8443|8888)\/\p{L})/iu;
/**
 * Matched as a whole and split at its dots afterwards: a pattern that contains the dot would scan from each letter. There are hosts of
 * emoji too.
 */
const NAME = /[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}_.-]{3,}/gu;
/** Four numbers that an IPv4 address may have. */
const ADDRESS = /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)/;
const BRACKETED = /\[[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\]/i;
/** Characters of an IPv6 address. */
const COLONED = /(?<![\p{L}\p{N}_])[0-9a-f:]{3,}(?![\p{L}\p{N}_])/giu;

const forms = [SLASHED, SCHEMED, BROKEN_SCHEME, PAIRING, WWW, NO_SCHEME, PORT, ADDRESS, BRACKETED];

/**
 * A scheme, `www.`, an address, or a bare name that ends like a DNS name. A sentence that follows the last one's dot
 * without a space (`slow.It`) counts as a link, because it cannot be told apart without a DNS look-up.
 */
export function holdsLink(plain: string): boolean {
  return [plain, toLatin(plain)].some(
    text => forms.some(form => form.test(text)) || holdsName(text) || holdsSplitName(text) || holdsAddress(text),
  );
}

/**
 * Ends of names that files have more often: of programs, pages and archives. A name with one dot and such an end counts as a file, unless
 * it is surrounded like a host.
 */
const FILE = /^[a-z0-9_-]{1,64}\.(?:cc|java|mk|ml|mm|md|mov|pl|ps|py|rs|sh|so|tf|zip)\.{0,3}$/i;
/** A path, a query or an account after it; an account or a scheme before it. */
const ABOUT_HOST = { before: /@$|[/\\]{2}$/, behind: /^(?:[/\\?#@]|:\d+[/\\])/ };

function isFile(text: string, name: string, at: number): boolean {
  if (!FILE.test(name)) return false;
  return !ABOUT_HOST.before.test(text.slice(0, at)) && !ABOUT_HOST.behind.test(text.slice(at + name.length));
}

function holdsName(text: string): boolean {
  for (const { 0: name, index } of text.matchAll(NAME)) {
    if (isFile(text, name, index)) continue;
    const labels = name.toLowerCase().normalize('NFC').split('.');
    if (labels.some((end, at) => at > 0 && labels[at - 1] !== '' && isEnd(end))) return true;
  }
  return false;
}

/** Ends that the DNS does not have: of hidden services, and of names registered on chains. */
const BESIDE_DNS = ['bit', 'crypto', 'eth', 'i2p', 'onion'];
const ends: ReadonlySet<string> = new Set([...rootZone, ...BESIDE_DNS]);

/** By the lower-case spelling of the end, composed (NFC); an `xn--` end always counts. */
function isTopLevel(label: string): boolean {
  return ends.has(label) || label.startsWith('xn--');
}

/**
 * Characters around a name that are Markdown or a dash are not part of it (`_evil.com_`); text may follow the best-known ends
 * (`evil.com-now`).
 */
function isEnd(label: string): boolean {
  const parts = label.split(/[_-]/).filter(part => part !== '');
  const [first = ''] = parts;
  if (isTopLevel(label) || mixesScripts(label)) return true;
  return parts.length === 1 ? isTopLevel(first) : isWellKnownEnd(first);
}

/** Scripts that are written next to each other in one word, or with Latin letters among them. */
const WRITTEN_TOGETHER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;
const LATIN = /\p{Script=Latin}/u;
const OTHER = /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}])[\p{L}\p{N}]/u;

/** A word is half in another script only if it imitates the end of a name. */
function mixesScripts(label: string): boolean {
  return LATIN.test(label) && OTHER.test(label) && !WRITTEN_TOGETHER.test(label);
}

/** IPv6 without brackets. Programs also write `a::b` for nested names, so a match needs a digit. */
function holdsAddress(text: string): boolean {
  for (const [token] of text.matchAll(COLONED)) if (/\d/.test(token) && token.length < 46 && isIPv6(token)) return true;
  return false;
}
