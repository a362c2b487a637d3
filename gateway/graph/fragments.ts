/** Walks the fragments of a document. Each fragment is read once. */
import { type DocumentNode, type FieldNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = document.definitions.filter(definition => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map(fragment => [fragment.name.value, fragment]));
}

/** Fields of a selection and of its fragments. Each fragment is read once, as in GraphQL's own comparison of fields. */
export function fieldsIn(selection: SelectionSetNode, fragments: Fragments, seen = new Set<string>()): FieldNode[] {
  return selection.selections.flatMap(node => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.INLINE_FRAGMENT) return fieldsIn(node.selectionSet, fragments, seen);
    const name = node.name.value;
    const fragment = fragments.get(name);
    // A repeated spread selects nothing new, and nested pairs of spreads would take 2^n steps.
    if (!fragment || seen.has(name)) return [];
    seen.add(name);
    return fieldsIn(fragment.selectionSet, fragments, seen);
  });
}

/** Name of a fragment that spreads itself, directly or through others. Null if there is none. Each fragment is read once. */
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
 * Number of fields of a selection, nested sets and fragments included, that share a response name with another field. GraphQL compares each
 * of them with each other, its only rule that takes quadratic time.
 */
export function repeatedNames(selection: SelectionSetNode, fragments: Fragments): number {
  const fields = fieldsIn(selection, fragments);
  const names = new Set(fields.map(({ name, alias }) => (alias ?? name).value));
  return fields.reduce(
    (repeated, { selectionSet }) => repeated + (selectionSet ? repeatedNames(selectionSet, fragments) : 0),
    fields.length - names.size,
  );
}
