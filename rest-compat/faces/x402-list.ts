import type { Door } from '../door.ts';

/**
 * /.well-known/x402list.txt: the absolute URL of each endpoint that answers 402 to whoever asks, a line each. What wants a
 * session of a book first is not listed, because a stranger who follows the list would find a 401 there.
 */
export function x402List(doors: readonly Door[], base_url: string): string {
  const offered = doors.filter(({ price, possession }) => price !== null && possession === 'none');
  const urls = offered.map(({ path }) => base_url + path);
  return textOfLines([...new Set(urls)].sort());
}

export const textOfLines = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('');
