import { isIP } from 'node:net';
import { boardLimits } from '../limits.ts';
import { isPublicAddress } from '../webhook/public-address.ts';
import { HIDDEN, isPublicName } from '../webhook/url.ts';
import { readPlain } from './plain-reading.ts';
import { holdsSecret } from './secrets.ts';

/* Endpoints that posts may be about. Pure: nothing is looked up or fetched. */

export type Endpoint =
  | { readonly kind: 'endpoint'; readonly url: string; readonly host: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Top-level names that are not on the public internet (RFC 2606, RFC 6761, RFC 7686, RFC 9476), and those of intranets. */
const PRIVATE_ENDS = ['test', 'invalid', 'onion', 'alt', 'lan', 'intranet', 'corp', 'home', 'private'];

/** Names of query parameters by which services receive keys. */
const KEY_NAME =
  /(?:^|[_.-])(?:key|apikey|token|secret|passw(?:or)?d|pwd|pass|auth|authorization|credentials?|sig|signature|session|sid|jwt|code|otp)(?:$|[_.-])|(?:key|token|secret|password)$/i;
/** A label of a host: ordinary names have no such run of hex digits, while rented endpoints often carry a key there. */
const KEY_LABEL = /(?:^|\.)[0-9a-f]{32,}(?:\.|$)/;
/** A text may name a hash; in a URL, hash and key cannot be told apart. */
const KEY_OR_HASH = /[0-9a-f]{64}/i;
/** Probably random: at least 20 characters, with letters and digits. */
const KEY_VALUE = /^(?=.*[a-z])(?=.*\d)[\w.~+/=-]{20,}$/i;

const refused = (reason: string): Endpoint => ({ kind: 'refused', reason });

/**
 * `host` is spelled as in the URL standard: lower case, punycode, numbers of addresses in their usual form, with the port unless it is the
 * default of https. The fragment is dropped.
 */
export function judgeEndpoint(text: string): Endpoint {
  if (text.length > boardLimits.endpoint_chars_max)
    return refused(`is longer than ${boardLimits.endpoint_chars_max} characters`);
  if (HIDDEN.test(text)) return refused('contains white space or a control character');
  const url = URL.parse(text);
  if (url === null) return refused('is not a URL');
  if (url.protocol !== 'https:') return refused('is not https');
  if (url.username !== '' || url.password !== '') return refused('contains a user name or a password');
  if (!isPublicHost(url.hostname)) return refused('does not name a public host');
  const read = readPlain(text);
  const spellings = [text, url.href, ...(read ? [read.plain, read.digits_kept] : [])];
  if (read === null || spellings.some(it => holdsSecret(it) || KEY_OR_HASH.test(it)) || holdsKey(url))
    return refused('contains what looks like a key. Send the endpoint without it');
  url.hash = '';
  return { kind: 'endpoint', url: url.href, host: url.host };
}

/** Host of a URL or of a bare host, as the URL standard spells it. Null if there is none. */
export function hostNamed(endpoint: string): string | null {
  return URL.parse(endpoint.includes('://') ? endpoint : `https://${endpoint}`)?.host || null;
}

function isPublicHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) return isPublicAddress(address);
  return isPublicName(hostname) && !PRIVATE_ENDS.some(end => hostname.endsWith(`.${end}`));
}

function holdsKey({ hostname, searchParams, hash }: URL): boolean {
  if (KEY_LABEL.test(hostname)) return true;
  const members = [...searchParams, ...new URLSearchParams(hash.slice(1))];
  return members.some(
    ([name, value]) => (value !== '' && KEY_NAME.test(name)) || [name, value].some(it => KEY_VALUE.test(it)),
  );
}
