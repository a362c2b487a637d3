import type { Door } from '../door.ts';
import type { SecurityContact } from '../security-contact.ts';

/* Listings as plain text, for programs that read no JSON. */

/**
 * /.well-known/x402list.txt: the absolute URLs of the endpoints that answer 402 to a request without credentials, one per
 * line. Endpoints that require a session are left out: a stranger would get 401 there.
 */
export function x402List(doors: readonly Door[], base_url: string): string {
  const offered = doors.filter(({ price, possession }) => price !== null && possession === 'none');
  const urls = offered.map(({ path }) => base_url + path);
  return textOfLines([...new Set(urls)].sort());
}

export const textOfLines = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('');

/** /robots.txt (RFC 9309): paths of endpoints that are not to be crawled, up to their first parameter. */
export function robots(doors: readonly Door[]): string {
  const shut = doors.flatMap(({ crawled, path }) => (crawled ? [] : [path.replace(/\{.*$/, '')]));
  return textOfLines(['User-agent: *', ...[...new Set(shut)].sort().map(path => `Disallow: ${path}`)]);
}

/** /.well-known/security.txt (RFC 9116 section 2.5), which requires `Expires` and at least one `Contact`. */
export function securityTxt({ contacts, expires_at }: SecurityContact, url: string): string {
  return textOfLines([
    ...contacts.map(contact => `Contact: ${contact}`),
    `Expires: ${expires_at}`,
    `Canonical: ${url}`,
    'Preferred-Languages: en',
  ]);
}
