import { type Schema, Supergraph } from '@apollo/federation-internals';
import type { GraphQLDataSource } from '@apollo/gateway/dist/datasources/types.js';
import { executeQueryPlan } from '@apollo/gateway/dist/executeQueryPlan.js';
import type { OperationContext } from '@apollo/gateway/dist/operationContext.js';
import { type QueryPlan, QueryPlanner } from '@apollo/query-planner';
import { buildASTSchema, type ExecutionResult, type GraphQLSchema, parse } from 'graphql';
import type { Logger } from 'pino';
import { Planner, type QueryPlans } from './planner.ts';
import type { Operation, Sources } from './source.ts';

/* Opens Apollo's planner and executor over the supergraph in the form in which they read it. */

export interface FederationParts {
  readonly supergraph: string;
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  readonly sources: Sources;
  readonly logger: Logger;
}

export interface Federation {
  readonly planner: Planner;
  run(running: RunningOperation): Promise<ExecutionResult>;
}

export interface RunningOperation {
  readonly plan: QueryPlan;
  readonly scope: OperationContext;
  readonly operation: Operation;
  readonly sources: Readonly<Record<string, GraphQLDataSource>>;
}

/** A supergraph in the form in which Apollo's libraries read it. */
interface ReadSupergraph {
  readonly supergraph: string;
  readonly api: Schema;
  readonly whole: GraphQLSchema;
  readonly query_planner: QueryPlanner;
  readonly plans: QueryPlans;
}

/** The last supergraph that was read. Gateways in one process share it, because reading it takes longest of all steps. */
let last_read: ReadSupergraph | null = null;

/**
 * Opens the planner and the executor in steps. Each step blocks the process for a while, and the caller may let other work run in between.
 */
export function* openFederation({ supergraph, schema, sources, logger }: FederationParts): Generator<void, Federation> {
  last_read = last_read?.supergraph === supergraph ? last_read : yield* readSupergraph(supergraph);
  const { api, whole, query_planner, plans } = last_read;
  return {
    planner: new Planner(query_planner, plans, { api, schema, sources }),
    run({ plan, scope, operation, sources }) {
      // The executor reads only these four members of a request.
      const request = {
        request: { variables: operation.variables },
        context: operation.context,
        logger,
        metrics: {},
      };
      const asked = request as unknown as Parameters<typeof executeQueryPlan>[2];
      return executeQueryPlan(plan, sources, asked, scope, whole, api);
    },
  };
}

function* readSupergraph(supergraph: string): Generator<void, ReadSupergraph> {
  const read = Supergraph.build(supergraph, { validateSupergraph: false });
  yield;
  const api = read.apiSchema();
  yield;
  const whole = buildASTSchema(parse(supergraph, { noLocation: true }), { assumeValid: true, assumeValidSDL: true });
  yield;
  // This option puts the parsed document into each fetch, so that sources need not parse it.
  const query_planner = new QueryPlanner(read, { exposeDocumentNodeInFetchNode: true });
  return { supergraph, api, whole, query_planner, plans: new WeakMap() };
}
