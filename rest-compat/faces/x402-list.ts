import type { Door } from '../door.ts';

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
