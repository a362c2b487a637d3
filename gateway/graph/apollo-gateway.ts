import type { ApolloServerOptionsWithGateway } from '@apollo/server';
import type { Context } from '../../subgraphs/context.ts';
import type { Graph } from './open-graph.ts';

/** The form in which Apollo Server takes a gateway. */
export type ServerGateway = ApolloServerOptionsWithGateway<Context>['gateway'];
/** A GraphQL answer leaves nothing out. */
const ALL_NULLS = {};
type Listener = Parameters<ServerGateway['onSchemaLoadOrUpdate']>[0];

/**
 * The graph in the form that Apollo Server takes. The class ApolloGateway is not used: on construction it starts to
 * report this host to Apollo's servers unless the environment forbids it, its plans are out of reach for REST and for
 * subscriptions, and a second road through the graph would need a second set of rules. Planner and executor are Apollo's.
 */
export function apolloGateway(graph: Pick<Graph, 'schema' | 'execute'>, supergraph: string): ServerGateway {
  const listeners = new Set<Listener>();
  return {
    onSchemaLoadOrUpdate(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async load() {
      for (const listener of listeners) listener({ apiSchema: graph.schema, coreSupergraphSdl: supergraph });
      return {
        executor: ({ document, request, context }) =>
          graph.execute({
            document,
            operationName: request.operationName,
            variables: request.variables ?? {},
            context,
            written: ALL_NULLS,
          }),
      };
    },
    async stop() {
      listeners.clear();
    },
  };
}
