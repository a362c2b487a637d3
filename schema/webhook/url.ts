import { isIP } from 'node:net';
import { webhookLimits } from '../limits.ts';

/* Where a webhook may point. What its name resolves to is judged at each delivery, not here: it may be another by then. */

/** `public`: https, by a name; `local`: under test, also plain http and this machine. */
export type WebhookReach = 'public' | 'local';

export type WebhookUrl =
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'refused'; readonly reason: string };

/** Names that are this machine's or its network's, whatever a resolver says of them (RFC 6761, RFC 6762, RFC 8375). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa'];
const HTTPS_PORT = 443;
/** Below it a port is some other protocol's, on which a receiver of webhooks does not listen. */
const FREE_PORTS_FROM = 1_024;

/** The URL standard takes these away without a word: what is kept would be another text than what was sent. */
export const HIDDEN = /[\0-\x20\x7f]/;

const refused = (reason: string): WebhookUrl => ({ kind: 'refused', reason });

/** The host is judged as the URL standard spells it: `0x7f.1`, `2130706433` and `0177.0.0.1` are 127.0.0.1 there. */
export function webhookUrl(text: string, reach: WebhookReach): WebhookUrl {
  if (text.length > webhookLimits.url_chars_max)
    return refused(`must have at most ${webhookLimits.url_chars_max} characters.`);
  if (HIDDEN.test(text)) return refused('must not contain white space or control characters.');
  if (!URL.canParse(text)) return refused('must be a URL.');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return refused('must not contain a user name or a password.');
  if (url.hash !== '') return refused('must not contain a fragment.');
  if (reach === 'local' && url.protocol === 'http:') return { kind: 'url', url };
  if (url.protocol !== 'https:') return refused('must use https.');
  if (reach === 'local') return { kind: 'url', url };
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return refused('must name a host, not an IP address.');
  if (!isPublicName(url.hostname)) return refused('must name a public host.');
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FREE_PORTS_FROM)
    return refused(`must use port ${HTTPS_PORT} or a port from ${FREE_PORTS_FROM} on.`);
  return { kind: 'url', url };
}

/** By its form alone: a name of several labels, and none that stays at home. */
export function isPublicName(host: string): boolean {
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return false;
  return !LOCAL_NAMES.some(name => host.endsWith(`.${name}`));
}
