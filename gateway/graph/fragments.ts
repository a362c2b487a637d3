/** Looks into the fragments of a document, into each of them once. */
import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = document.definitions.filter(definition => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map(fragment => [fragment.name.value, fragment]));
}

/** The fields that stand in a selection itself, fragments looked into: each once, as in GraphQL's own comparison. */
export function fieldsIn(selection: SelectionSetNode, fragments: Fragments, seen = new Set<string>()): FieldNode[] {
  return selection.selections.flatMap(node => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.INLINE_FRAGMENT) return fieldsIn(node.selectionSet, fragments, seen);
    const name = node.name.value;
    const fragment = fragments.get(name);
    // The same one again selects nothing new, and nested twos would grow as 2^n.
    if (!fragment || seen.has(name)) return [];
    seen.add(name);
    return fieldsIn(fragment.selectionSet, fragments, seen);
  });
}

/** A fragment that spreads itself, directly or through others; null where none does. Each is entered once. */
export function cyclicFragment(fragments: Fragments): string | null {
  const state = new Map<string, 'open' | 'done'>();
  const enter = (name: string): string | null => {
    const fragment = fragments.get(name);
    if (state.get(name) === 'open') return name;
    if (!fragment || state.has(name)) return null;
    state.set(name, 'open');
    for (const next of spreadsIn(fragment.selectionSet)) {
      const found = enter(next);
      if (found !== null) return found;
    }
    state.set(name, 'done');
    return null;
  };
  for (const name of fragments.keys()) {
    const found = enter(name);
    if (found !== null) return found;
  }
  return null;
}

function spreadsIn(selection: SelectionSetNode): string[] {
  return selection.selections.flatMap(node => {
    if (node.kind === Kind.FRAGMENT_SPREAD) return [node.name.value];
    return node.selectionSet ? spreadsIn(node.selectionSet) : [];
  });
}

/**
 * How many fields of a selection have the response name of another beside them, fragments looked into, the sets within
 * included. GraphQL compares each with each: the one rule of its own that takes time by the square.
 */
export function repeatedNames(selection: SelectionSetNode, fragments: Fragments): number {
  const fields = fieldsIn(selection, fragments);
  const names = new Set(fields.map(({ name, alias }) => (alias ?? name).value));
  return fields.reduce(
    (repeated, { selectionSet }) => repeated + (selectionSet ? repeatedNames(selectionSet, fragments) : 0),
    fields.length - names.size,
  );
}
