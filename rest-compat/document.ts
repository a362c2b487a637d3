import { readFileSync } from 'node:fs';
import { type DocumentNode, Kind, parse, visit } from 'graphql';

/**
 * The named operation of a door, from operations/<name>.graphql, with the fragments that it spreads, from
 * operations/fragments; its aliases spell the specified JSON.
 */
export function operation(name: string): DocumentNode {
  const document = read(name);
  const fragments = spreadIn(document).map(fragment => read(`fragments/${fragment}`));
  return { kind: Kind.DOCUMENT, definitions: [document, ...fragments].flatMap(({ definitions }) => definitions) };
}

function read(name: string): DocumentNode {
  return parse(readFileSync(new URL(`./operations/${name}.graphql`, import.meta.url), 'utf8'), { noLocation: true });
}

function spreadIn(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    FragmentSpread({ name }) {
      names.add(name.value);
    },
  });
  return [...names];
}
