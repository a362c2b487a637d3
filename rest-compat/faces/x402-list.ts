import type { Door } from '../door.ts';

/** /.well-known/x402list.txt: the absolute URL of each paid door, a line each, with path parameters as OpenAPI spells them. */
export function x402List(doors: readonly Door[], base_url: string): string {
  const urls = doors.flatMap(({ price, path }) => (price === null ? [] : [base_url + path]));
  return textOfLines([...new Set(urls)].sort());
}

export const textOfLines = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('');
