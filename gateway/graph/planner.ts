import { operationFromDocument, type Schema } from '@apollo/federation-internals';
import { buildOperationContext } from '@apollo/gateway/dist/operationContext.js';
import type { FetchNode, PlanNode, QueryPlan, QueryPlanner } from '@apollo/query-planner';
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { EVENT_SOURCE, introspects, isValidIn, type PlannedOperation } from './owner.ts';
import type { Source, Sources } from './source.ts';

interface PlannerParts {
  readonly api: Schema;
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  readonly sources: Sources;
}

/** Apollo's planner, called once per operation: `Plans` caches its results. */
export class Planner {
  readonly #api: Schema;
  readonly #schema: GraphQLSchema;
  readonly #sources: Sources;
  readonly #planner: QueryPlanner;
  readonly #known: QueryPlans;

  constructor(planner: QueryPlanner, known: QueryPlans, { api, schema, sources }: PlannerParts) {
    this.#planner = planner;
    this.#known = known;
    this.#api = api;
    this.#schema = schema;
    this.#sources = sources;
  }

  /** Plans an operation of a valid document. @throws Refusal if it is too large to plan */
  plan(
    document: DocumentNode,
    operationName: string | undefined,
    operation: OperationDefinitionNode,
  ): PlannedOperation {
    const { node } = this.#queryPlan(document, operationName);
    const direct = this.#directSource(node, document, operation);
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
    const known = this.#known.get(document) ?? new Map<string, QueryPlan>();
    const plan = known.get(operationName ?? '') ?? this.#newPlan(document, operationName);
    this.#known.set(document, known.set(operationName ?? '', plan));
    return plan;
  }

  #newPlan(document: DocumentNode, operationName: string | undefined): QueryPlan {
    try {
      return this.#planner.buildQueryPlan(
        operationFromDocument(this.#api, document, operationName ? { operationName } : {}),
      );
    } catch (cause) {
      // The planner reports its limits against exploding selections as plain errors.
      throw new Refusal('invalid_request', {
        detail: 'This operation is too complex to plan. Select fewer fields or fragments.',
        cause,
      });
    }
  }

  /**
   * The subgraph that can run the caller's own document: the plan is one fetch from it, and the document is valid in its schema. Its
   * response is then returned unchanged, with aliases, order and nulls. Null if there is none, or for introspection, which the API schema
   * must answer and never a subgraph's.
   */
  #directSource(node: QueryPlan['node'], document: DocumentNode, operation: OperationDefinitionNode): Source | null {
    const fetch = fetchAlone(node);
    if (!fetch || introspects(operation)) return null;
    const source = this.#source(fetch.serviceName);
    return isValidIn(source, document) ? source : null;
  }

  #source(name: string): Source {
    const source = this.#sources.get(name);
    if (!source) throw new Error(`the supergraph names a subgraph that is not here: ${name}`);
    return source;
  }
}

/** The single fetch of a plan. Null if there are several, or none. */
export function fetchAlone(node: QueryPlan['node']): FetchNode | null {
  if (node?.kind === 'Subscription') return node.rest ? null : node.primary;
  return node?.kind === 'Fetch' ? node : null;
}

/** Plans by document and operation name. They are the same for every gateway of a process, whatever its sources are. */
export type QueryPlans = WeakMap<DocumentNode, Map<string, QueryPlan>>;
