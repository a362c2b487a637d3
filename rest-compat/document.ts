import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type DocumentNode, Kind, parse, visit } from 'graphql';

/**
 * The operation of a door, by `<area>/<name>`: the file of that name with all fragments that it needs, each from a file
 * of its own beside it. Its aliases spell the specified JSON.
 */
export function operation(name: string): DocumentNode {
  const document = read(name);
  const fragments = new Map<string, DocumentNode>();
  gather(document, dirname(name), fragments);
  return {
    kind: Kind.DOCUMENT,
    definitions: [document, ...fragments.values()].flatMap(({ definitions }) => definitions),
  };
}

function gather(document: DocumentNode, area: string, fragments: Map<string, DocumentNode>): void {
  for (const name of spreadIn(document)) {
    if (fragments.has(name)) continue;
    const fragment = read(`${area}/${name}`);
    fragments.set(name, fragment);
    gather(fragment, area, fragments);
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
