import { isIP } from 'node:net';
import { webhookLimits } from '../limits.ts';

/* URLs that a webhook may have. The resolved address is checked at each delivery, because it may change. */

/** `public`: https and a host name. `local`, under test: also plain http and this machine. */
export type WebhookReach = 'public' | 'local';

export type WebhookUrl =
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'refused'; readonly reason: string };

/** Names of this machine or its network, whatever a resolver says (RFC 6761, RFC 6762, RFC 8375). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa'];
const HTTPS_PORT = 443;
/** Lower ports belong to other protocols. */
const FREE_PORTS_FROM = 1_024;

/** The URL standard silently removes these characters, so the stored text would differ from the one sent. */
export const HIDDEN = /[\0-\x20\x7f]/;

const refused = (reason: string): WebhookUrl => ({ kind: 'refused', reason });

/** The host is checked in the spelling of the URL standard: `0x7f.1`, `2130706433` and `0177.0.0.1` all become 127.0.0.1. */
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

/** Checks the form only: several labels, and not a local name. */
export function isPublicName(host: string): boolean {
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return false;
  return !LOCAL_NAMES.some(name => host.endsWith(`.${name}`));
}
