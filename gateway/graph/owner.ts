import type { OperationContext } from '@apollo/gateway/dist/operationContext.js';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, validate } from 'graphql';
import type { Source, Sources } from './source.ts';

/* Finds the subgraph that answers a document alone: most documents, and nearly all endpoints, need no plan. */

/**
 * The subgraph that has each field of the operation: a plan would be one fetch from it, because a second fetch always
 * costs more. Null if there is none, or only a plan can tell.
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

/** By subgraph: a document that is valid there is valid for every gateway of this process. */
const verdicts = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, boolean>>();

/** Errors are not reported: the document is valid in the whole graph. */
export function isValidIn({ schema }: Source, document: DocumentNode): boolean {
  const known = verdicts.get(schema) ?? new WeakMap<DocumentNode, boolean>();
  verdicts.set(schema, known);
  const valid =
    known.get(document) ?? validate(schema, document, undefined, { maxErrors: 1, hideSuggestions: true }).length === 0;
  known.set(document, valid);
  return valid;
}

/** Fragments count as introspection: they are rare at the root, and a plan serves them too. */
export function introspects({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(
    node => node.kind !== Kind.FIELD || node.name.value === '__schema' || node.name.value === '__type',
  );
}

/** Whether variables decide which of its root fields are requested. */
function depends({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(({ directives = [] }) => directives.length > 0);
}

/**
 * Whether subgraphs share fields by Federation's directives: then a field's subgraph does not tell who answers it.
 * Read from the supergraph, where composition has normalized the names.
 */
export function borrows(supergraph: string): boolean {
  return BORROWING.test(supergraph);
}

const BORROWING =
  /(?<!directive )@join__(field\([^)]*\b(external|requires|provides|override|usedOverridden|contextArguments):|type\([^)]*\bisInterfaceObject:)/;

/** How an operation is run. `direct`: one subgraph answers the caller's own document, without joins. */
export type PlannedOperation =
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
      /** The event takes the place of the primary under this name. */
      readonly plan: QueryPlan;
      readonly scope: OperationContext;
    };

/** The name of the event as a subgraph. No subgraph can have it. */
export const EVENT_SOURCE = '(event)';
