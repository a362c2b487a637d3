import { readFileSync } from 'node:fs';
import { type DocumentNode, Kind, parse, visit } from 'graphql';

/**
 * The named operation of a door, from <area>/<name>.graphql, with the fragments that it spreads and those that they
 * spread, from fragments; its aliases spell the specified JSON.
 */
export function operation(name: string): DocumentNode {
  const document = read(name);
  const fragments = new Map<string, DocumentNode>();
  gather(document, fragments);
  return {
    kind: Kind.DOCUMENT,
    definitions: [document, ...fragments.values()].flatMap(({ definitions }) => definitions),
  };
}

function gather(document: DocumentNode, fragments: Map<string, DocumentNode>): void {
  for (const name of spreadIn(document)) {
    if (fragments.has(name)) continue;
    const fragment = read(`fragments/${name}`);
    fragments.set(name, fragment);
    gather(fragment, fragments);
  }
}

function read(name: string): DocumentNode {
  return parse(readFileSync(new URL(`./${name}.graphql`, import.meta.url), 'utf8'), { noLocation: true });
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
