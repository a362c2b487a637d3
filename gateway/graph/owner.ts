import type { OperationContext } from '@apollo/gateway/dist/operationContext.js';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, validate } from 'graphql';
import type { Source, Sources } from './source.ts';

/* Finds the subgraph that answers a document alone. Most documents, and nearly all endpoints, need no plan. */

/**
 * The subgraph that has all fields of the operation. A plan would be one fetch from it, because a second fetch always costs more. Null if
 * there is no such subgraph, or if only a plan can find it.
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

/** Whether documents are valid, by the schema of a subgraph. All gateways of this process share the results. */
const verdicts = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, boolean>>();

/** Whether a document is valid in the schema of one subgraph. Errors are not reported, because the document is valid in the whole graph. */
export function isValidIn({ schema }: Source, document: DocumentNode): boolean {
  const known = verdicts.get(schema) ?? new WeakMap<DocumentNode, boolean>();
  verdicts.set(schema, known);
  const valid =
    known.get(document) ?? validate(schema, document, undefined, { maxErrors: 1, hideSuggestions: true }).length === 0;
  known.set(document, valid);
  return valid;
}

/**
 * Whether an operation may contain introspection. A fragment at the root counts as introspection: it is rare there, and a plan serves it
 * too.
 */
export function introspects({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(
    node => node.kind !== Kind.FIELD || node.name.value === '__schema' || node.name.value === '__type',
  );
}

/** Whether variables may decide which root fields are requested. Any directive on a root field counts. */
function depends({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some(({ directives = [] }) => directives.length > 0);
}

/**
 * Whether subgraphs share fields by Federation's directives. The subgraph that has a field is then not always the one that answers it. Read
 * from the supergraph, where composition has normalized the names.
 */
export function borrows(supergraph: string): boolean {
  return BORROWING.test(supergraph);
}

const BORROWING =
  /(?<!directive )@join__(field\([^)]*\b(external|requires|provides|override|usedOverridden|contextArguments):|type\([^)]*\bisInterfaceObject:)/;

/** How an operation is run. `direct`: one subgraph runs the caller's own document, and nothing is joined. */
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
      /** Plan in which the event, named `EVENT_SOURCE`, replaces the primary fetch. */
      readonly plan: QueryPlan;
      readonly scope: OperationContext;
    };

/** Name of the event in a plan, in place of a subgraph. No subgraph can have this name. */
export const EVENT_SOURCE = '(event)';
