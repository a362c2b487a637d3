import { Supergraph } from '@apollo/federation-internals';
import type { GraphQLDataSource } from '@apollo/gateway/dist/datasources/types.js';
import { executeQueryPlan } from '@apollo/gateway/dist/executeQueryPlan.js';
import type { OperationContext } from '@apollo/gateway/dist/operationContext.js';
import type { QueryPlan } from '@apollo/query-planner';
import { buildASTSchema, type ExecutionResult, type GraphQLSchema, parse } from 'graphql';
import type { Logger } from 'pino';
import { Planner } from './planner.ts';
import type { Operation, Sources } from './source.ts';

/* Apollo's planner and executor, over the supergraph as they read it. */

export interface FederationParts {
  readonly supergraph: string;
  /** What clients see. */
  readonly schema: GraphQLSchema;
  readonly sources: Sources;
  readonly logger: Logger;
}

export interface Federation {
  readonly planner: Planner;
  run(running: Running): Promise<ExecutionResult>;
}

export interface Running {
  readonly plan: QueryPlan;
  readonly scope: OperationContext;
  readonly operation: Operation;
  readonly sources: Readonly<Record<string, GraphQLDataSource>>;
}

/** In steps, so that its caller may let others have their turn between them: each blocks the process for a while. */
export function* openFederation({ supergraph, schema, sources, logger }: FederationParts): Generator<void, Federation> {
  const read = Supergraph.build(supergraph, { validateSupergraph: false });
  yield;
  const api = read.apiSchema();
  yield;
  const whole = buildASTSchema(parse(supergraph, { noLocation: true }), { assumeValid: true, assumeValidSDL: true });
  yield;
  const planner = new Planner(read, api, schema, sources);
  return {
    planner,
    run({ plan, scope, operation, sources }) {
      // The executor reads these four members of a request and no other.
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
