import type { Door } from '../door.ts';
import { textOfLines } from './x402-list.ts';

/** /robots.txt (RFC 9309): what lies at doors that are not to be crawled, up to where a path names one of it. */
export function robots(doors: readonly Door[]): string {
  const shut = doors.flatMap(({ crawled, path }) => (crawled ? [] : [path.replace(/\{.*$/, '')]));
  return textOfLines(['User-agent: *', ...[...new Set(shut)].sort().map(path => `Disallow: ${path}`)]);
}
