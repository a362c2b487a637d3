import { readFileSync } from 'node:fs';
import { type DocumentNode, parse } from 'graphql';

/** The named operation of a door, from operations/<name>.graphql; its aliases spell the specified JSON. */
export function operation(name: string): DocumentNode {
  return parse(readFileSync(new URL(`./operations/${name}.graphql`, import.meta.url), 'utf8'), { noLocation: true });
}
