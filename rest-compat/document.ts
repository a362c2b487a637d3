import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type DocumentNode, Kind, parse, visit } from 'graphql';

/**
 * The operation of a door, by `<area>/<name>`: the file of that name with all fragments that it needs, each from a file
 * of its own beside it. Its aliases spell the specified JSON.
 * @param made fragments by their names that no file holds, since they are made of what they show
 */
export function operation(name: string, made: Made = {}): DocumentNode {
  const document = read(name);
  const fragments = new Map<string, DocumentNode>();
  gather(document, dirname(name), fragments, made);
  return {
    kind: Kind.DOCUMENT,
    definitions: [document, ...fragments.values()].flatMap(({ definitions }) => definitions),
  };
}

type Made = Readonly<Record<string, string>>;

function gather(document: DocumentNode, area: string, fragments: Map<string, DocumentNode>, made: Made): void {
  for (const name of spreadIn(document)) {
    if (fragments.has(name)) continue;
    const text = made[name];
    const fragment = text === undefined ? read(`${area}/${name}`) : parse(text, { noLocation: true });
    fragments.set(name, fragment);
    gather(fragment, area, fragments, made);
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
