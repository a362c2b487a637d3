import type { GraphQLDataSource } from '@apollo/gateway/dist/datasources/types.js';
import { type DocumentNode, type ExecutionResult, type GraphQLSchema, parse } from 'graphql';
import type { LeftOut } from '../../subgraphs/json-sql.ts';

export interface Operation {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: unknown;
  /** Whoever asks takes parts of the answer as Written text, without these nulls. Absent: plain values only. */
  readonly written?: LeftOut;
}

/** Where a subgraph's fields come from: this process, or another. */
export interface Source {
  /** For the planner, which asks whether the owner would understand a caller's own document. */
  readonly schema: GraphQLSchema;
  /** Never throws for a refusal, nor where the subgraph is out of reach. */
  execute(operation: Operation): Promise<ExecutionResult>;
  subscribe(operation: Operation): Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;
}

export type Sources = ReadonlyMap<string, Source>;

/** A source in the form in which Apollo's executor asks. The planner's document is valid as it stands. */
export function dataSource(source: Source): GraphQLDataSource {
  return {
    async process(options) {
      const { request, context } = options;
      const planned = 'document' in options ? options.document : undefined;
      const document = planned ?? parse(request.query ?? '', { noLocation: true });
      const { operationName, variables = {} } = request;
      return source.execute({ document, operationName, variables, context });
    },
  };
}
