import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, validate } from 'graphql';
import type { Source, Sources } from './source.ts';
import { fieldsOf } from './supergraph.ts';

/* Which subgraph answers a document alone: most documents, and all doors but a few, want no plan at all. */

/**
 * The subgraph that knows each field of the operation by itself: a plan would be one fetch from it, as a fetch more always
 * costs more. Null where there is none, and where only a plan can say.
 */
export function ownerOf(document: DocumentNode, operation: OperationDefinitionNode, sources: Sources): Source | null {
  if (introspects(operation) || depends(operation)) return null;
  const roots = operation.selectionSet.selections.flatMap(node => (node.kind === Kind.FIELD ? node.name.value : []));
  const owners = [...sources.values()].filter(({ schema }) => {
    const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
    return roots.some(name => Object.hasOwn(fields, name));
  });
  const [owner, ...others] = owners;
  if (!owner || others.length > 0 || borrows(owner.schema)) return null;
  return validate(owner.schema, document).length === 0 ? owner : null;
}

/** Fragments count as introspection: they are rare at the root, and the long road answers them just as well. */
export function introspects({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(
    node => node.kind !== Kind.FIELD || node.name.value === '__schema' || node.name.value === '__type',
  );
}

/** Whether variables say which of its root fields are asked for. */
function depends({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(({ directives = [] }) => directives.length > 0);
}

/** Where Federation's directives make a field of a subgraph depend on others, that it is there says little. */
const BORROWING: ReadonlySet<string> = new Set(['external', 'requires', 'provides', 'override', 'interfaceObject']);

const known = new WeakMap<GraphQLSchema, boolean>();

function borrows(schema: GraphQLSchema): boolean {
  const found =
    known.get(schema) ??
    fieldsOf(schema).some(({ field }) => field.astNode?.directives?.some(({ name }) => BORROWING.has(name.value)));
  known.set(schema, found);
  return found;
}
