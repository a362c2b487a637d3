import { operationFromDocument, type Schema, type Supergraph } from '@apollo/federation-internals';
import { buildOperationContext, type OperationContext } from '@apollo/gateway/dist/operationContext.js';
import {
  type FetchNode,
  type PlanNode,
  type QueryPlan,
  QueryPlanner,
  type SubscriptionNode,
} from '@apollo/query-planner';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  validate,
} from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import type { Source, Sources } from './source.ts';

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

/** Apollo's planner, one plan per (document, operation): it lives as long as the document does. */
export class Planner {
  readonly #api: Schema;
  readonly #schema: GraphQLSchema;
  readonly #sources: Sources;
  readonly #planner: QueryPlanner;
  readonly #plans = new WeakMap<DocumentNode, Map<string, Planned>>();

  constructor(supergraph: Supergraph, api: Schema, schema: GraphQLSchema, sources: Sources) {
    this.#api = api;
    this.#schema = schema;
    this.#sources = sources;
    // Fetches then carry their parsed document, so that the sources parse nothing.
    this.#planner = new QueryPlanner(supergraph, { exposeDocumentNodeInFetchNode: true });
  }

  /** `document` must be valid. @throws Refusal where it has no such operation or is too large to plan. */
  plan(document: DocumentNode, operationName: string | null): Planned {
    const plans = this.#plans.get(document) ?? new Map<string, Planned>();
    this.#plans.set(document, plans);
    const known = plans.get(operationName ?? '');
    if (known) return known;
    const operation = getOperationAST(document, operationName);
    if (!operation)
      throw new Refusal('invalid_request', {
        detail: 'The document has no such operation, or several and none is named.',
      });
    const planned = this.#build(document, operationName ?? undefined, operation);
    plans.set(operationName ?? '', planned);
    return planned;
  }

  #build(document: DocumentNode, operationName: string | undefined, operation: OperationDefinitionNode): Planned {
    const { node } = this.#queryPlan(document, operationName);
    const direct = node && this.#directSource(node, document, operation);
    if (direct) return { kind: 'direct', operation, source: direct };

    const scope = buildOperationContext({
      schema: this.#schema,
      operationDocument: document,
      ...(operationName ? { operationName } : {}),
    });
    if (node?.kind !== 'Subscription')
      return { kind: 'planned', operation, plan: { kind: 'QueryPlan', ...(node ? { node } : {}) }, scope };
    const event: PlanNode = { ...node.primary, serviceName: EVENT_SOURCE };
    const nodes = node.rest ? [event, node.rest] : [event];
    const source = this.#source(node.primary.serviceName);
    return {
      kind: 'events',
      operation,
      source,
      primary: node.primary,
      plan: { kind: 'QueryPlan', node: { kind: 'Sequence', nodes } },
      scope,
    };
  }

  #queryPlan(document: DocumentNode, operationName: string | undefined): QueryPlan {
    try {
      return this.#planner.buildQueryPlan(
        operationFromDocument(this.#api, document, operationName ? { operationName } : {}),
      );
    } catch (cause) {
      // The planner's limits against exploding selections are plain errors.
      throw new Refusal('invalid_request', { detail: 'This operation cannot be planned.', cause });
    }
  }

  /**
   * The plan is one fetch and the owner understands the caller's own document: then the owner's answer is the answer,
   * aliases, order and nulls included. Introspection must be answered by the API schema, never by a subgraph's.
   */
  #directSource(
    node: PlanNode | SubscriptionNode,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): Source | null {
    const fetch =
      node.kind === 'Subscription' ? (node.rest ? null : node.primary) : node.kind === 'Fetch' ? node : null;
    if (!fetch || introspects(operation)) return null;
    const source = this.#source(fetch.serviceName);
    return validate(source.schema, document).length === 0 ? source : null;
  }

  #source(name: string): Source {
    const source = this.#sources.get(name);
    if (!source) throw new Error(`the supergraph names a subgraph that is not here: ${name}`);
    return source;
  }
}

/** Fragments count as introspection: they are rare at the root, and the long road answers them just as well. */
function introspects(operation: OperationDefinitionNode): boolean {
  return operation.selectionSet.selections.some(
    node => node.kind !== Kind.FIELD || node.name.value === '__schema' || node.name.value === '__type',
  );
}
