import type { OperationContext } from '@apollo/gateway/dist/operationContext.js';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, validate } from 'graphql';
import type { Source, Sources } from './source.ts';

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
  if (!owner || others.length > 0) return null;
  return isValidIn(owner, document) ? owner : null;
}

/** By subgraph: what is valid there once is so for every gateway of this process. */
const verdicts = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, boolean>>();

/** What is wrong with it is nobody's business here: it is valid in the whole graph, or it would not have come so far. */
export function isValidIn({ schema }: Source, document: DocumentNode): boolean {
  const known = verdicts.get(schema) ?? new WeakMap<DocumentNode, boolean>();
  verdicts.set(schema, known);
  const valid =
    known.get(document) ?? validate(schema, document, undefined, { maxErrors: 1, hideSuggestions: true }).length === 0;
  known.set(document, valid);
  return valid;
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

/**
 * Whether subgraphs borrow fields from each other, by Federation's directives: then that a field is in one of them says little
 * of who answers it. Read off the supergraph, where composition has written each by one name, whoever imported it by which.
 */
export function borrows(supergraph: string): boolean {
  return BORROWING.test(supergraph);
}

const BORROWING =
  /(?<!directive )@join__(field\([^)]*\b(external|requires|provides|override|usedOverridden|contextArguments):|type\([^)]*\bisInterfaceObject:)/;

/** How one operation is run. `direct`: one subgraph answers the caller's own document, nothing is to be joined or reshaped. */
export type Planned =
  | { readonly kind: 'direct'; readonly operation: OperationDefinitionNode; readonly source: Source }
  | {
      readonly kind: 'planned';
      readonly operation: OperationDefinitionNode;
      readonly plan: QueryPlan;
      readonly scope: OperationContext;
    }
  | {
      readonly kind: 'events';
      readonly operation: OperationDefinitionNode;
      readonly source: Source;
      readonly primary: FetchNode;
      /** The primary's place is taken by the event itself, under this name. */
      readonly plan: QueryPlan;
      readonly scope: OperationContext;
    };

/** The name under which an event takes the part of a subgraph. No subgraph can be called so. */
export const EVENT_SOURCE = '(event)';
